//! The bank, its members and their leaf models.

use std::collections::VecDeque;

use super::bytes::{Reader, Writer};
use super::cloud::{read_cloud, write_cloud};
use super::effects::{read_effects, write_effects};
use super::invariants::check_bank;
use super::trivial::{read_last_label, read_last_value, read_least_squares, write_last_label, write_last_value, write_least_squares};
use crate::bank::{
    Account, Bank, Calibration, ClassificationMember, Errors, Forecaster, Horizon, Ledger, Member, MemberConfig, Members, Mixing,
    RegressionMember, TrivialKind,
};
use crate::config::{CloudConfig, Leaf, Named, Task};
use crate::effects::Effects;
use crate::error::{Error, Result};
use crate::leaf::{Discriminant, Gaussian, GaussianPrior, LeafModel, Multinomial, Pseudo, Ridge, Scale};
use crate::num::cholesky::packed_len;

pub(super) fn inconsistent<T>(what: &'static str) -> Result<T> {
    Err(Error::Inconsistent { what })
}

fn read_flag(r: &mut Reader) -> Result<bool> {
    match r.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => inconsistent("a flag is neither 0 nor 1"),
    }
}

pub fn write_bank(w: &mut Writer, bank: &Bank) {
    let Bank { n_inputs, n_classes, members, ledger, effects } = bank;
    w.u8(match ledger.task {
        Task::Regression => 0,
        Task::Classification => 1,
    });
    w.u64(*n_inputs as u64);
    w.u64(*n_classes as u64);
    write_effects(w, effects.as_ref());
    w.u64(ledger.n_seen);
    w.f64(ledger.ln_evidence);
    w.f64s(ledger.trace.iter().copied());
    w.f64s(ledger.recent.iter().copied());
    let Mixing { rates, top_rate, .. } = &ledger.next_row.mixing;
    w.f64s(rates.iter().copied());
    w.f64(*top_rate);
    write_account(w, &ledger.next_row);
    w.u8(u8::from(ledger.any_row.is_some()));
    ledger.any_row.iter().for_each(|account| write_account(w, account));
    w.u64(members.len() as u64);
    match members {
        Members::Regression(members) => members.iter().for_each(|member| write_regression_member(w, member)),
        Members::Classification(members) => members.iter().for_each(|member| write_classification_member(w, member)),
    }
}

/// The members of an account follow from the configurations, and the rates are those of all accounts.
fn write_account(w: &mut Writer, account: &Account) {
    let Mixing { ln_weights, ln_top, .. } = &account.mixing;
    w.f64s(ln_weights.iter().copied());
    w.f64s(ln_top.iter().copied());
    let Calibration { ln_weights, errors, lowest, highest } = &account.calibration;
    w.f64s(ln_weights.iter().copied());
    for value in [errors.n, errors.sum, errors.squares, *lowest, *highest] {
        w.f64(value);
    }
}

fn write_regression_member(w: &mut Writer, member: &RegressionMember) {
    write_member_config(w, member.member());
    match member {
        RegressionMember::Gaussian(cloud) => write_cloud(w, cloud, write_gaussian),
        RegressionMember::LastValue(member) => write_last_value(w, member),
        RegressionMember::LeastSquares(member) => write_least_squares(w, member),
    }
}

fn write_classification_member(w: &mut Writer, member: &ClassificationMember) {
    write_member_config(w, member.member());
    match member {
        ClassificationMember::Multinomial(cloud) => write_cloud(w, cloud, |_, _| {}),
        ClassificationMember::Discriminant(cloud) => write_cloud(w, cloud, write_discriminant),
        ClassificationMember::LastLabel(member) => write_last_label(w, member),
    }
}

fn write_member_config(w: &mut Writer, member: &dyn Member) {
    match &member.config() {
        MemberConfig::Cloud(config) => write_config(w, config),
        // The name stands where a cloud has that of its leaf.
        MemberConfig::Trivial(kind) => w.bytes(kind.name().as_bytes()),
    }
}

/// Before this version banks did not calibrate what their members say on average.
const CALIBRATED_SINCE: u32 = 2;
/// Before this version levels had no scores.
const SCORED_SINCE: u32 = 3;
/// Before this version there was no account of rows at any distance.
const ANY_ROW_SINCE: u32 = 3;
/// Inputs and classes beyond this are not a model but an attack on memory.
const MAX_WIDTH: u64 = 1 << 20;

pub fn read_bank(r: &mut Reader, version: u32) -> Result<Bank> {
    let task = match r.u8()? {
        0 => Task::Regression,
        1 => Task::Classification,
        _ => return inconsistent("the task is unknown"),
    };
    let (n_inputs, n_classes) = (r.u64()?, r.u64()?);
    if n_inputs == 0 || n_inputs > MAX_WIDTH || n_classes > MAX_WIDTH {
        return inconsistent("the number of inputs or classes is out of range");
    }
    let (n_inputs, n_classes) = (n_inputs as usize, n_classes as usize);
    let effects = if version < SCORED_SINCE { None } else { read_effects(r, task, n_inputs)? };
    let width = n_inputs + effects.as_ref().map_or(0, Effects::n_scores);
    let n_seen = r.u64()?;
    let ln_evidence = r.f64()?;
    let trace = VecDeque::from(r.f64s()?);
    let recent = VecDeque::from(r.f64s()?);
    let rates = r.f64s()?;
    let top_rate = r.f64()?;
    let next_row = read_account_state(r, version)?;
    let any_row = if version >= ANY_ROW_SINCE && read_flag(r)? { Some(read_account_state(r, version)?) } else { None };
    let n_members = r.count(1)?;
    let members = match task {
        Task::Regression => {
            Members::Regression((0..n_members).map(|_| read_regression_member(r, version, width, n_seen)).collect::<Result<_>>()?)
        }
        Task::Classification => Members::Classification(
            (0..n_members).map(|_| read_classification_member(r, version, width, n_classes, n_seen)).collect::<Result<_>>()?,
        ),
    };
    let account = |horizon, state| checked_account(members.for_horizon(horizon), &rates, top_rate, state);
    let next_row = account(Horizon::NextRow, next_row)?;
    let any_row = match (members.has_account_of_any_row(), any_row) {
        (true, Some(state)) => Some(account(Horizon::AnyRow, state)?),
        (true, None) if version < ANY_ROW_SINCE => Some(next_row.restricted(members.for_horizon(Horizon::AnyRow))),
        (false, None) => None,
        _ => return inconsistent("the account of rows at any distance does not fit the members"),
    };
    let ledger = Ledger { task, next_row, any_row, recent, n_seen, ln_evidence, trace };
    let bank = Bank { n_inputs, n_classes, members, ledger, effects };
    check_bank(&bank)?;
    Ok(bank)
}

/// What [`write_account`] wrote.
struct AccountState {
    ln_weights: Vec<f64>,
    ln_top: Vec<f64>,
    calibration: Calibration,
}

fn read_account_state(r: &mut Reader, version: u32) -> Result<AccountState> {
    let (ln_weights, ln_top) = (r.f64s()?, r.f64s()?);
    let calibration = if version < CALIBRATED_SINCE { Calibration::unknown() } else { read_calibration(r)? };
    Ok(AccountState { ln_weights, ln_top, calibration })
}

fn checked_account(members: Vec<usize>, rates: &[f64], top_rate: f64, state: AccountState) -> Result<Account> {
    let AccountState { ln_weights, ln_top, calibration } = state;
    let lengths_ok = ln_weights.len() == rates.len() * members.len() && ln_top.len() == rates.len();
    if members.is_empty() || !lengths_ok {
        return inconsistent("the bank's weights do not fit its members");
    }
    let mut account = Account::new(members, rates, top_rate);
    account.mixing.ln_weights = ln_weights;
    account.mixing.ln_top = ln_top;
    account.calibration = calibration;
    Ok(account)
}

fn read_calibration(r: &mut Reader) -> Result<Calibration> {
    let ln_weights = r.f64s()?.try_into().or_else(|_| inconsistent("the grid of the calibration has another length"))?;
    let errors = Errors { n: r.f64()?, sum: r.f64()?, squares: r.f64()? };
    Ok(Calibration { ln_weights, errors, lowest: r.f64()?, highest: r.f64()? })
}

fn read_regression_member(r: &mut Reader, version: u32, n_inputs: usize, n_seen: u64) -> Result<RegressionMember> {
    let config = read_checked_config(r, version, n_inputs, 0)?;
    Ok(match RegressionMember::new(&config, n_inputs, 0).or_else(not_allowed)? {
        RegressionMember::Gaussian(blank) => RegressionMember::Gaussian(read_cloud(r, blank, n_seen, read_gaussian)?),
        RegressionMember::LastValue(blank) => RegressionMember::LastValue(read_last_value(r, blank)?),
        RegressionMember::LeastSquares(blank) => RegressionMember::LeastSquares(read_least_squares(r, blank)?),
    })
}

fn read_classification_member(
    r: &mut Reader,
    version: u32,
    n_inputs: usize,
    n_classes: usize,
    n_seen: u64,
) -> Result<ClassificationMember> {
    let config = read_checked_config(r, version, n_inputs, n_classes)?;
    Ok(match ClassificationMember::new(&config, n_inputs, n_classes, 0).or_else(not_allowed)? {
        ClassificationMember::Multinomial(blank) => {
            ClassificationMember::Multinomial(read_cloud(r, blank, n_seen, |_, model: &Multinomial| Ok(model.clone()))?)
        }
        ClassificationMember::Discriminant(blank) => ClassificationMember::Discriminant(read_cloud(r, blank, n_seen, read_discriminant)?),
        ClassificationMember::LastLabel(blank) => ClassificationMember::LastLabel(read_last_label(r, &blank)?),
    })
}

/// A configuration whose member is not wider than the rest of the file.
fn read_checked_config(r: &mut Reader, version: u32, n_inputs: usize, n_classes: usize) -> Result<MemberConfig> {
    let config = read_member_config(r, version)?;
    if needed_by(&config, n_inputs, n_classes) > r.left() {
        return inconsistent("a member is wider than the file is long");
    }
    Ok(config)
}

/// A configuration that could not have been made is damage to the file, not the caller's mistake.
fn not_allowed<T>(_: Error) -> Result<T> {
    inconsistent("a member's configuration is not allowed")
}

/// What a blank member allocates must be there to be read: ranges, leaf statistics and, for linear leaves, the running cross-products.
fn needed_by(config: &MemberConfig, n_inputs: usize, n_classes: usize) -> usize {
    let config = match config {
        MemberConfig::Cloud(config) => config,
        MemberConfig::Trivial(TrivialKind::LastValue) => return 0,
        MemberConfig::Trivial(TrivialKind::LeastSquares) => return 8 * packed_len(n_inputs + 1),
        MemberConfig::Trivial(TrivialKind::LastLabel) => return 16 * n_classes,
    };
    let width = n_inputs + config.lags.min(MAX_WIDTH as usize);
    16 * width
        + match config.leaf {
            Leaf::Constant => 0,
            Leaf::Linear => 8 * packed_len(width),
            Leaf::Multinomial => 16 * n_classes,
            // The statistics of at least one leaf, with whatever each class has of its own.
            Leaf::Discriminant | Leaf::Quadratic => 8 * packed_len(width) + 16 * n_classes * (1 + width),
        }
}

fn write_config(w: &mut Writer, config: &CloudConfig) {
    let CloudConfig {
        leaf,
        n_particles,
        max_active,
        discard,
        forgetting,
        prior,
        evidence,
        division,
        split_alpha,
        split_beta,
        min_leaf,
        n_candidates,
        dirichlet,
        lags,
        any_row_only,
    } = config;
    w.bytes(leaf.name().as_bytes());
    w.u64(*n_particles as u64);
    w.option_u64(*max_active);
    w.bytes(discard.name().as_bytes());
    w.option_f64(*forgetting);
    w.bytes(prior.name().as_bytes());
    w.bytes(evidence.name().as_bytes());
    w.bytes(division.map_or("", Named::name).as_bytes());
    w.f64(*split_alpha);
    w.f64(*split_beta);
    w.option_u64(*min_leaf);
    w.option_u64(*n_candidates);
    w.option_f64(*dirichlet);
    w.u64(*lags as u64);
    w.u8(u8::from(*any_row_only));
}

fn read_name<T: Named>(r: &mut Reader) -> Result<T> {
    let name = std::str::from_utf8(r.bytes()?).unwrap_or("");
    T::parse(name).or_else(|_| inconsistent("an option of a member is unknown"))
}

fn read_member_config(r: &mut Reader, version: u32) -> Result<MemberConfig> {
    let name = std::str::from_utf8(r.bytes()?).unwrap_or("");
    if let Ok(kind) = TrivialKind::parse(name) {
        return Ok(kind.into());
    }
    let leaf = Leaf::parse(name).or_else(|_| inconsistent("the kind of a member is unknown"))?;
    Ok(read_config(r, leaf, version)?.into())
}

fn read_config(r: &mut Reader, leaf: Leaf, version: u32) -> Result<CloudConfig> {
    Ok(CloudConfig {
        leaf,
        n_particles: r.u64()? as usize,
        max_active: r.option_u64()?,
        discard: read_name(r)?,
        forgetting: r.option_f64()?,
        prior: read_name(r)?,
        evidence: read_name(r)?,
        division: match r.bytes()? {
            b"" => None,
            name => {
                let name = std::str::from_utf8(name).unwrap_or("?");
                Some(Named::parse(name).or_else(|_| inconsistent("an option of a member is unknown"))?)
            }
        },
        split_alpha: r.f64()?,
        split_beta: r.f64()?,
        min_leaf: r.option_u64()?,
        n_candidates: r.option_u64()?,
        dirichlet: r.option_f64()?,
        lags: r.u64()? as usize,
        any_row_only: version >= ANY_ROW_SINCE && read_flag(r)?,
    })
}

fn write_scale(w: &mut Writer, scale: &Scale) {
    let Scale { n, mean, cross, .. } = scale;
    w.f64(*n);
    w.f64s(mean.iter().copied());
    w.f64s(cross.iter().copied());
}

fn read_scale(r: &mut Reader, dim: usize) -> Result<Scale> {
    let mut scale = Scale::new(dim);
    scale.n = r.finite()?;
    scale.mean = r.finite_f64s(dim)?;
    scale.cross = r.finite_f64s(packed_len(dim))?;
    Ok(scale)
}

fn write_gaussian(w: &mut Writer, model: &Gaussian) {
    write_scale(w, &model.scale);
    // The prior is refreshed only now and then, so it cannot be had back from the scale.
    if let GaussianPrior::Default(Pseudo { moments, centre, nu0, noise, ln_constant }) = &model.prior {
        w.f64s(moments.iter().copied());
        w.f64s(centre.iter().copied());
        w.f64(*nu0);
        w.f64(*noise);
        w.f64(*ln_constant);
    }
}

fn read_gaussian(r: &mut Reader, blank: &Gaussian) -> Result<Gaussian> {
    let mut model = blank.clone();
    let dim = model.point_len();
    model.scale = read_scale(r, dim)?;
    if let GaussianPrior::Default(pseudo) = &mut model.prior {
        pseudo.moments = r.finite_f64s(packed_len(dim + 1))?;
        pseudo.centre = r.finite_f64s(dim)?;
        (pseudo.nu0, pseudo.noise, pseudo.ln_constant) = (r.finite()?, r.finite()?, r.finite()?);
    }
    Ok(model)
}

fn write_discriminant(w: &mut Writer, model: &Discriminant) {
    write_scale(w, &model.scale);
    // Refreshed only now and then, like a Gaussian leaf's prior.
    w.f64s(model.ridge.squares.iter().copied());
    w.f64s(model.ridge.centre.iter().copied());
}

fn read_discriminant(r: &mut Reader, blank: &Discriminant) -> Result<Discriminant> {
    let mut model = blank.clone();
    let dim = model.scale.dim();
    model.scale = read_scale(r, dim)?;
    let (squares, centre) = (r.finite_f64s(dim)?, r.finite_f64s(dim)?);
    model.ridge = Ridge { squares, centre, follows: true };
    Ok(model)
}
