//! A cloud with a full pool takes steps without allocating memory.
//!
//! Fails if a buffer is reallocated at every step, or if a list grows with the number of rows. It is a separate program, because the counting
//! allocator is global.

#![expect(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use sapwood::bank::{ClassificationMember, RegressionMember};
use sapwood::config::{CloudConfig, Discard, Leaf, Task};
use sapwood::rng::{Purpose, Stream};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // The counter of a terminating thread is already gone.
    let _ = ALLOCATIONS.try_with(|counted| counted.set(counted.get() + 1));
}

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const N_INPUTS: usize = 4;
const N_CLASSES: usize = 3;
const POOL: usize = 100;
/// Warm-up, in which buffers reach their size as trees grow and shrink. The prior may allocate when it is recomputed, whenever the number of
/// rows has doubled, so no power of two is among the counted steps.
const WARM_UP: usize = 8200;
const STEPS: usize = 200;

/// Inputs and target of one row, with something to split on and something to fit.
fn row(noise: &mut Stream, leaf: Leaf) -> ([f64; N_INPUTS], f64) {
    let x = std::array::from_fn(|_| noise.uniform());
    let y = match leaf {
        Leaf::Multinomial | Leaf::Discriminant | Leaf::Quadratic => (x[0] * N_CLASSES as f64).floor(),
        Leaf::Constant | Leaf::Linear => (if x[0] < 0.5 { -1.0 } else { 2.0 }) + x[1] + 0.2 * noise.uniform(),
    };
    (x, y)
}

fn allocations(leaf: Leaf, discard: Discard, forgetting: Option<f64>) -> u64 {
    let config = CloudConfig { n_particles: 200, max_active: Some(POOL), discard, forgetting, ..CloudConfig::new(leaf) };
    let member = match leaf.task() {
        Task::Regression => RegressionMember::new(&config.into(), N_INPUTS, 1).map(RegressionMember::into_member),
        Task::Classification => ClassificationMember::new(&config.into(), N_INPUTS, N_CLASSES, 1).map(ClassificationMember::into_member),
    };
    let mut member = member.expect("an allowed configuration");
    let mut noise = Stream::new(2, 0, 0, Purpose::Member);
    for _ in 0..WARM_UP {
        let (x, y) = row(&mut noise, leaf);
        member.observe(&x, y, 1.0);
    }
    let before = ALLOCATIONS.get();
    for _ in 0..STEPS {
        let (x, y) = row(&mut noise, leaf);
        member.observe(&x, y, 1.0);
    }
    ALLOCATIONS.get() - before
}

#[test]
fn a_step_with_a_full_pool_allocates_nothing() {
    for leaf in [Leaf::Linear, Leaf::Constant, Leaf::Multinomial] {
        for discard in [Discard::Oldest, Discard::Random] {
            for forgetting in [Some(1.0), Some(0.9), None] {
                let n = allocations(leaf, discard, forgetting);
                assert_eq!(n, 0, "{leaf:?}, {discard:?}, forgetting {forgetting:?}: {n} allocations in {STEPS} steps");
            }
        }
    }
}

#[test]
fn allocations_would_be_seen() {
    let before = ALLOCATIONS.get();
    let some = std::hint::black_box(vec![1_u8; 100]);
    assert_eq!(ALLOCATIONS.get() - before, 1, "{}", some.len());
}
