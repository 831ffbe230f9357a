//! Lists of three, the statistics of constant leaves and of two classes: so short that a loop costs more than what it does.

const SHORT: usize = 3;

/// A list of three as an array, whose loops the compiler writes out.
#[inline(always)]
pub fn short<T>(list: &[T]) -> Option<&[T; SHORT]> {
    list.try_into().ok()
}

#[inline(always)]
pub fn short_mut<T>(list: &mut [T]) -> Option<&mut [T; SHORT]> {
    list.try_into().ok()
}

/// `sum += other`, entry by entry.
#[inline(always)]
pub fn add(sum: &mut [f64], other: &[f64]) {
    if let (Some(sum), Some(other)) = (short_mut(sum), short(other)) {
        (0..SHORT).for_each(|i| sum[i] += other[i]);
        return;
    }
    for (a, b) in sum.iter_mut().zip(other) {
        *a += b;
    }
}
