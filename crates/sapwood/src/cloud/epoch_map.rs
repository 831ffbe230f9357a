//! A table by index that is cleared in constant time.

/// Entries count only if they were set in the current epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct EpochMap<T> {
    epoch: u32,
    entries: Vec<(u32, T)>,
}

impl<T: Copy + Default> EpochMap<T> {
    /// Forget all entries, and make space for `n_entries`.
    pub fn clear(&mut self, n_entries: usize) {
        self.epoch = self.epoch.checked_add(1).unwrap_or_else(|| {
            self.entries.iter_mut().for_each(|entry| entry.0 = 0);
            1
        });
        if self.entries.len() < n_entries {
            self.entries.resize(n_entries, (0, T::default()));
        }
    }

    #[inline]
    pub fn get(&self, ix: usize) -> Option<T> {
        let (epoch, value) = self.entries[ix];
        (epoch == self.epoch).then_some(value)
    }

    #[inline]
    pub fn set(&mut self, ix: usize, value: T) {
        self.entries[ix] = (self.epoch, value);
    }
}

impl EpochMap<()> {
    /// True the first time an index is inserted in this epoch.
    #[inline]
    pub fn insert(&mut self, ix: usize) -> bool {
        let is_new = self.entries[ix].0 != self.epoch;
        self.entries[ix].0 = self.epoch;
        is_new
    }
}
