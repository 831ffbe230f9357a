//! Sharing work between threads: members of a bank, or rows to predict. Which thread does what never changes a result.

use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Apply `f` to every item, on at most `n_threads` threads, and return the results in order. Items of higher `cost` are started first, so
/// that no thread is left with a large one when the others have finished.
pub fn for_each<T: Send, R: Send>(items: &mut [T], n_threads: usize, cost: impl Fn(&T) -> usize, f: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
    for_each_beside(items, n_threads, cost, f, || ())
}

/// Apply `f` to every item and chunk, one chunk after another. The results of a chunk are passed to `hand_over` while the items work on the
/// next chunk, in order. `go_on` is called after each chunk; when it returns false no further chunk is started.
pub fn through_chunks<T: Send, C: Sync, R: Send>(
    items: &mut [T],
    n_threads: usize,
    cost: impl Fn(&T) -> usize,
    chunks: impl Iterator<Item = C>,
    f: impl Fn(&mut T, &C) -> R + Sync,
    mut hand_over: impl FnMut(C, Vec<R>),
    go_on: &mut dyn FnMut() -> bool,
) {
    let mut waiting: Option<(C, Vec<R>)> = None;
    for chunk in chunks {
        let beside = || waiting.take().into_iter().for_each(|(before, results)| hand_over(before, results));
        let results = for_each_beside(items, n_threads, &cost, |item| f(item, &chunk), beside);
        waiting = Some((chunk, results));
        if !go_on() {
            break;
        }
    }
    if let Some((last, results)) = waiting {
        hand_over(last, results);
    }
}

/// Like [`for_each`]; the calling thread runs `beside` before it takes items.
fn for_each_beside<T: Send, R: Send>(
    items: &mut [T],
    n_threads: usize,
    cost: impl Fn(&T) -> usize,
    f: impl Fn(&mut T) -> R + Sync,
    beside: impl FnOnce(),
) -> Vec<R> {
    let n_threads = n_threads.min(items.len());
    if n_threads <= 1 {
        beside();
        return items.iter_mut().map(f).collect();
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&ix| Reverse(cost(&items[ix])));
    let cells: Vec<Mutex<(&mut T, Option<R>)>> = items.iter_mut().map(|item| Mutex::new((item, None))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&ix) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut cell = cells[ix].lock().expect("no worker panics while it holds an item");
            let result = f(cell.0);
            cell.1 = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..n_threads {
            scope.spawn(work);
        }
        beside();
        work();
    });
    cells.into_iter().map(|cell| cell.into_inner().expect("workers have finished").1.expect("every item was worked on")).collect()
}

/// Split the rows of `out` (`width` values each) into blocks and apply `f` to the first row's number and the values of each, on at most
/// `n_threads` threads.
pub fn for_row_blocks(out: &mut [f64], width: usize, n_threads: usize, f: impl Fn(usize, &mut [f64]) + Sync) {
    /// Larger blocks share more work between their rows, but every thread should get one.
    const BLOCK: std::ops::RangeInclusive<usize> = 32..=256;
    let width = width.max(1);
    let n_rows = (out.len() / width).div_ceil(n_threads.max(1)).clamp(*BLOCK.start(), *BLOCK.end());
    let mut blocks: Vec<(usize, &mut [f64])> = out.chunks_mut(n_rows * width).enumerate().map(|(ix, block)| (ix * n_rows, block)).collect();
    for_each(&mut blocks, n_threads, |_| 0, |(first_row, block)| f(*first_row, block));
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
            let results = for_each_beside(&mut items, n_threads, |item| *item % 7, square, || n_beside += 1);
            assert_eq!(n_beside, 1);
            assert_eq!(results, (1..=50).map(|i| i * i).collect::<Vec<usize>>());
        }
    }
}
