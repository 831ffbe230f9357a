//! Slices of three numbers (the statistics of constant leaves and of two classes), for which loop overhead would dominate.

const SHORT: usize = 3;

/// A slice of three as an array, so that loops over it are unrolled.
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
