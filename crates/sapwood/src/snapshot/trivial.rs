//! Members that are not clouds.

use super::bytes::{Reader, Writer};
use super::parts::inconsistent;
use crate::bank::{LastLabel, LeastSquares, Tracked, Trivial};
use crate::error::Result;
use crate::leaf::Scale;
use crate::num::cholesky::{packed_ix, packed_len};

pub fn write_trivial(w: &mut Writer, member: &Trivial) {
    match member {
        Trivial::LastValue(tracked) => write_tracked(w, tracked),
        Trivial::LeastSquares(tracked) => {
            write_tracked(w, tracked);
            let LeastSquares { n, mean, cross, slopes, n_since_fit } = &tracked.point;
            w.f64(*n);
            w.f64s(mean.iter().copied());
            w.f64s(cross.iter().copied());
            w.f64s(slopes.iter().copied());
            w.u32(*n_since_fit);
        }
        Trivial::LastLabel(LastLabel { counts, followers }) => {
            w.f64s(counts.iter().copied());
            for row in followers {
                w.u32s(row.iter().map(|(class, _)| *class));
                w.f64s(row.iter().map(|(_, count)| *count));
            }
        }
    }
}

/// `blank` is a member of the right kind and width that has seen nothing.
pub fn read_trivial(r: &mut Reader, blank: Trivial) -> Result<Trivial> {
    Ok(match blank {
        Trivial::LastValue(blank) => Trivial::LastValue(read_tracked(r, blank)?),
        Trivial::LeastSquares(blank) => {
            let mut tracked = read_tracked(r, blank)?;
            tracked.point = read_least_squares(r, &tracked.point)?;
            Trivial::LeastSquares(tracked)
        }
        Trivial::LastLabel(blank) => Trivial::LastLabel(read_last_label(r, &blank)?),
    })
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

fn read_least_squares(r: &mut Reader, blank: &LeastSquares) -> Result<LeastSquares> {
    let dim = blank.mean.len();
    let (n, mean) = (r.finite()?, r.finite_f64s(dim)?);
    let (cross, slopes) = (r.finite_f64s(packed_len(dim))?, r.finite_f64s(dim - 1)?);
    if n < 0.0 || (0..dim).any(|i| cross[packed_ix(i, i)] < 0.0) {
        return inconsistent("a least squares member has a negative count or variance");
    }
    Ok(LeastSquares { n, mean, cross, slopes, n_since_fit: r.u32()? })
}

fn read_last_label(r: &mut Reader, blank: &LastLabel) -> Result<LastLabel> {
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
