//! Evidence of leaves that exist or are only considered, computed many at a time.

use crate::config::Evidence;
use crate::leaf::LeafModel;
use crate::tree::LeafEvidence;

/// Leaves waiting for their `ln Z`, and the results of those that have been waited for.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    rows: Vec<f64>,
    n: Vec<f64>,
    ln_z: Vec<f64>,
}

/// Where to find the parts of one leaf's evidence when the queue has been worked off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    whole: u32,
    /// The retired part, where it is taken off.
    retired: Option<u32>,
    bonus: f64,
}

/// Rows computed at a time: enough to fill the lanes, few enough to stay in the cache.
const BATCH: usize = 64;

impl Queue {
    /// Start over; earlier tickets are void.
    pub fn begin(&mut self) {
        self.rows.clear();
        self.n.clear();
        self.ln_z.clear();
    }

    /// Put a leaf in line.
    pub fn push<M: LeafModel>(&mut self, model: &M, kind: Evidence, total: &[f64], retired: &[f64], origin: &[f64]) -> Ticket {
        let whole = self.push_row(model, total, origin);
        match kind {
            Evidence::Joint => {
                let share = if retired[0] != 0.0 && total[0] > 0.0 { retired[0] / total[0] } else { 0.0 };
                Ticket { whole, retired: None, bonus: model.retired_bonus() * share }
            }
            Evidence::Conditional => Ticket { whole, retired: Some(self.push_row(model, retired, origin)), bonus: 0.0 },
        }
    }

    fn push_row<M: LeafModel>(&mut self, model: &M, total: &[f64], origin: &[f64]) -> u32 {
        let id = self.ln_z.len() + self.n.len();
        let start = self.rows.len();
        self.rows.resize(start + total.len(), 0.0);
        model.posterior_row(total, origin, &mut self.rows[start..]);
        self.n.push(total[0]);
        if self.n.len() == BATCH {
            self.finish(model);
        }
        id as u32
    }

    /// Compute what is waiting.
    pub fn finish<M: LeafModel>(&mut self, model: &M) {
        let done = self.ln_z.len();
        self.ln_z.resize(done + self.n.len(), 0.0);
        model.ln_z_rows(&self.rows, &self.n, &mut self.ln_z[done..]);
        self.rows.clear();
        self.n.clear();
    }

    pub fn get(&self, ticket: Ticket) -> LeafEvidence {
        let ln_z = self.ln_z[ticket.whole as usize];
        // A retired part that its prior cannot normalise is left where it is.
        let ln_z_retired = ticket.retired.map(|id| self.ln_z[id as usize]).filter(|ln_z| ln_z.is_finite()).unwrap_or(0.0);
        LeafEvidence { ln_z, ln_evidence: ln_z + ticket.bonus - ln_z_retired }
    }
}
