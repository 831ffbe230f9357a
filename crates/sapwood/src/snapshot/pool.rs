//! The active pool, in order of arrival.

use super::bytes::{Reader, Writer};
use crate::error::{Error, Result};
use crate::pool::Pool;

pub fn write_pool(w: &mut Writer, pool: &Pool) {
    w.u64(pool.len() as u64);
    for &slot in pool.active() {
        pool.x(slot).iter().chain(pool.point(slot)).for_each(|value| w.f64(*value));
        w.f64(pool.y(slot));
        w.f64(pool.weight(slot));
        w.u64(pool.arrival(slot));
    }
}

/// `now` is the number of rows seen when the pool was written.
pub fn read_pool(r: &mut Reader, n_inputs: usize, point_len: usize, now: u64) -> Result<Pool> {
    let n_active = r.count(8 * (n_inputs + point_len + 3))?;
    let mut pool = Pool::without_order(n_inputs, point_len);
    let mut last_arrival = 0;
    let mut x = vec![0.0; n_inputs];
    let mut point = vec![0.0; point_len];
    for _ in 0..n_active {
        for value in x.iter_mut().chain(&mut point) {
            *value = r.f64()?;
        }
        let (y, weight, arrival) = (r.f64()?, r.f64()?, r.u64()?);
        if arrival <= last_arrival || arrival > now {
            return Err(Error::Inconsistent { what: "the pool is not in order of arrival" });
        }
        last_arrival = arrival;
        pool.insert(&x, y, weight, arrival, |out| out.copy_from_slice(&point));
    }
    pool.restore_order();
    Ok(pool)
}
