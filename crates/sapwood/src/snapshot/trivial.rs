//! Members without trees.

use super::bytes::{Reader, Writer};
use super::parts::inconsistent;
use crate::bank::trivial::{LastLabel, LastValue, LeastSquares, Tracked};
use crate::error::Result;
use crate::leaf::Scale;
use crate::num::cholesky::{packed_ix, packed_len};

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
    if [scale.n, scale.cross[0], n_errors, sum_errors].iter().any(|value| *value < 0.0) {
        return inconsistent("a member's record of its errors is negative");
    }
    Ok(Tracked { scale, n_errors, sum_errors, ..blank })
}

fn read_moments(r: &mut Reader, blank: &LeastSquares) -> Result<LeastSquares> {
    let dim = blank.mean.len();
    let (n, mean) = (r.finite()?, r.finite_f64s(dim)?);
    let (cross, slopes) = (r.finite_f64s(packed_len(dim))?, r.finite_f64s(dim - 1)?);
    if n < 0.0 || (0..dim).any(|i| cross[packed_ix(i, i)] < 0.0) {
        return inconsistent("a least squares member has a negative count or variance");
    }
    Ok(LeastSquares { n, mean, cross, slopes, n_since_fit: r.u32()? })
}

pub fn read_last_label(r: &mut Reader, blank: &LastLabel) -> Result<LastLabel> {
    let n_classes = blank.counts.len();
    let counts = r.finite_f64s(n_classes)?;
    let mut followers = Vec::with_capacity(n_classes);
    for _ in 0..n_classes {
        let classes = r.u32s()?;
        let row = r.finite_f64s(classes.len())?;
        let in_order = classes.windows(2).all(|pair| pair[0] < pair[1]) && classes.last().is_none_or(|last| (*last as usize) < n_classes);
        if !in_order || row.iter().any(|count| *count < 0.0) {
            return inconsistent("a table of labels that follow one another is out of order");
        }
        followers.push(classes.into_iter().zip(row).collect());
    }
    if counts.iter().any(|count| *count < 0.0) {
        return inconsistent("a count of labels is negative");
    }
    Ok(LastLabel { counts, followers })
}
