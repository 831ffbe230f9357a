//! Sharing work between threads: members of a bank, or rows to predict. Which thread does what never changes a result.

use std::cmp::Reverse;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads of one call of the bank. They end with the call: threads that were kept would be missing after a fork.
pub struct Workers(Option<ThreadPool>);

impl Workers {
    /// At most `n_threads`, and no more than there are items to work on at a time.
    pub fn new(n_threads: usize, n_items: usize) -> Self {
        let n_threads = n_threads.min(n_items);
        if n_threads <= 1 {
            return Self(None);
        }
        // Where the system has no threads left the calling one does the work, with the same results.
        Self(ThreadPoolBuilder::new().num_threads(n_threads).build().ok())
    }

    /// Apply `f` to every item and return the results in order. Items of higher `cost` are started first, so that no thread is left with a
    /// large one when the others have finished. `beside` is started before all of them.
    fn for_each<T: Send, R: Send>(
        &self,
        items: &mut [T],
        cost: impl Fn(&T) -> usize,
        f: impl Fn(&mut T) -> R + Sync,
        beside: impl FnOnce() + Send,
    ) -> Vec<R> {
        let Some(pool) = &self.0 else {
            beside();
            return items.iter_mut().map(f).collect();
        };
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let mut jobs: Vec<(&mut T, &mut Option<R>)> = items.iter_mut().zip(&mut results).collect();
        jobs.sort_by_key(|(item, _)| Reverse(cost(item)));
        let f = &f;
        pool.in_place_scope_fifo(|scope| {
            scope.spawn_fifo(|_| beside());
            for (item, result) in jobs {
                scope.spawn_fifo(move |_| *result = Some(f(item)));
            }
        });
        results.into_iter().map(|result| result.expect("every item was worked on")).collect()
    }
}

/// Apply `f` to every item and chunk, one chunk after another. The results of a chunk are passed to `hand_over` while the items work on the
/// next chunk, in order. `go_on` is called by the calling thread after each chunk; when it returns false no further chunk is started.
pub fn through_chunks<T: Send, C: Send + Sync, R: Send>(
    items: &mut [T],
    n_threads: usize,
    cost: impl Fn(&T) -> usize,
    chunks: impl Iterator<Item = C>,
    f: impl Fn(&mut T, &C) -> R + Sync,
    mut hand_over: impl FnMut(C, Vec<R>) + Send,
    go_on: &mut dyn FnMut() -> bool,
) {
    let workers = Workers::new(n_threads, items.len());
    let mut waiting: Option<(C, Vec<R>)> = None;
    for chunk in chunks {
        let beside = || waiting.take().into_iter().for_each(|(before, results)| hand_over(before, results));
        let results = workers.for_each(items, &cost, |item| f(item, &chunk), beside);
        waiting = Some((chunk, results));
        if !go_on() {
            break;
        }
    }
    if let Some((last, results)) = waiting {
        hand_over(last, results);
    }
}

/// Split the rows of `out` (`width` values each) into blocks and apply `f` to the first row's number and the values of each, on at most
/// `n_threads` threads.
pub fn for_row_blocks(out: &mut [f64], width: usize, n_threads: usize, f: impl Fn(usize, &mut [f64]) + Sync) {
    /// Larger blocks share more work between their rows, but every thread should get one.
    const BLOCK: std::ops::RangeInclusive<usize> = 32..=256;
    let width = width.max(1);
    let n_rows = (out.len() / width).div_ceil(n_threads.max(1)).clamp(*BLOCK.start(), *BLOCK.end());
    let mut blocks: Vec<(usize, &mut [f64])> = out.chunks_mut(n_rows * width).enumerate().map(|(ix, block)| (ix * n_rows, block)).collect();
    let workers = Workers::new(n_threads, blocks.len());
    workers.for_each(&mut blocks, |_| 0, |(first_row, block)| f(*first_row, block), || ());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if a chunk is handed over twice, out of order, before all have finished it, or never.
    #[test]
    fn chunks_are_handed_over_in_order_for_any_number_of_threads() {
        for (n_threads, n_chunks) in [(1, 5), (2, 5), (3, 5), (2, 1), (2, 0)] {
            let mut sums = [0; 4];
            let mut handed = Vec::new();
            let mut n_asked = 0;
            let add = |sum: &mut usize, chunk: &usize| {
                *sum += chunk;
                *sum
            };
            // There are more chunks than it goes on for.
            let mut go_on = || {
                n_asked += 1;
                n_asked < n_chunks
            };
            let chunks = if n_chunks == 0 { 0..0 } else { 1..100 };
            through_chunks(&mut sums, n_threads, |_| 0, chunks, add, |chunk, results| handed.push((chunk, results)), &mut go_on);
            assert_eq!(handed, (1..=n_chunks).map(|chunk| (chunk, vec![chunk * (chunk + 1) / 2; 4])).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_keep_their_order_for_any_number_of_threads() {
        for n_threads in [1, 2, 3, 7, 100] {
            let mut items: Vec<usize> = (0..50).collect();
            let square = |item: &mut usize| {
                *item += 1;
                *item * *item
            };
            let mut n_beside = 0;
            let results = Workers::new(n_threads, items.len()).for_each(&mut items, |item| *item % 7, square, || n_beside += 1);
            assert_eq!(n_beside, 1);
            assert_eq!(results, (1..=50).map(|i| i * i).collect::<Vec<usize>>());
        }
    }
}
