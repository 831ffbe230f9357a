//! Members without trees.

use super::bytes::{Reader, Writer};
use crate::bank::trivial::{LastLabel, LastValue, LeastSquares, Tracked};
use crate::error::Result;
use crate::leaf::Scale;
use crate::num::cholesky::packed_len;

pub fn write_last_value(w: &mut Writer, member: &Tracked<LastValue>) {
    write_tracked(w, member);
}

pub fn write_least_squares(w: &mut Writer, member: &Tracked<LeastSquares>) {
    write_tracked(w, member);
    let LeastSquares { n, mean, cross, slopes, n_since_fit } = &member.point;
    w.f64(*n);
    w.f64s(mean.iter().copied());
    w.f64s(cross.iter().copied());
    w.f64s(slopes.iter().copied());
    w.u32(*n_since_fit);
}

pub fn write_last_label(w: &mut Writer, LastLabel { counts, followers }: &LastLabel) {
    w.f64s(counts.iter().copied());
    for row in followers {
        w.u32s(row.iter().map(|(class, _)| *class));
        w.f64s(row.iter().map(|(_, count)| *count));
    }
}

// Each `blank` is a member of the right width that has seen nothing.

pub fn read_last_value(r: &mut Reader, blank: Tracked<LastValue>) -> Result<Tracked<LastValue>> {
    read_tracked(r, blank)
}

pub fn read_least_squares(r: &mut Reader, blank: Tracked<LeastSquares>) -> Result<Tracked<LeastSquares>> {
    let mut member = read_tracked(r, blank)?;
    member.point = read_moments(r, &member.point)?;
    Ok(member)
}

fn write_tracked<P>(w: &mut Writer, Tracked { scale, n_errors, sum_errors, .. }: &Tracked<P>) {
    let Scale { n, mean, cross, .. } = scale;
    [*n, mean[0], cross[0], *n_errors, *sum_errors].into_iter().for_each(|value| w.f64(value));
}

fn read_tracked<P>(r: &mut Reader, blank: Tracked<P>) -> Result<Tracked<P>> {
    let mut scale = blank.scale;
    (scale.n, scale.mean[0], scale.cross[0]) = (r.finite()?, r.finite()?, r.finite()?);
    let (n_errors, sum_errors) = (r.finite()?, r.finite()?);
    Ok(Tracked { scale, n_errors, sum_errors, ..blank })
}

fn read_moments(r: &mut Reader, blank: &LeastSquares) -> Result<LeastSquares> {
    let dim = blank.mean.len();
    let (n, mean) = (r.finite()?, r.finite_f64s(dim)?);
    let (cross, slopes) = (r.finite_f64s(packed_len(dim))?, r.finite_f64s(dim - 1)?);
    Ok(LeastSquares { n, mean, cross, slopes, n_since_fit: r.u32()? })
}

pub fn read_last_label(r: &mut Reader, blank: &LastLabel) -> Result<LastLabel> {
    let n_classes = blank.counts.len();
    let counts = r.finite_f64s(n_classes)?;
    let mut followers = Vec::with_capacity(n_classes);
    for _ in 0..n_classes {
        let classes = r.u32s()?;
        let row = r.finite_f64s(classes.len())?;
        followers.push(classes.into_iter().zip(row).collect());
    }
    Ok(LastLabel { counts, followers })
}
