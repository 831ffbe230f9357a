//! Errors caused by invalid input from the user. Bugs in the engine are panics instead.

use thiserror::Error;

pub type Result<T> = std::result::Result<T, Error>;

/// The category of an error; each has its own exception class in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    Input,
    Config,
    ModelFile,
    /// The engine is at fault.
    Engine,
}

/// Squares of larger values could overflow when they are summed.
pub const MAX_MAGNITUDE: f64 = 1e100;
/// Sums of weights outside this range could lose one of the terms to rounding.
pub const MIN_WEIGHT: f64 = 1e-12;
pub const MAX_WEIGHT: f64 = 1e12;
/// Rows that a stream may have: more than anyone will see, and few enough that counters cannot overflow.
pub const MAX_ROWS: u64 = 1 << 53;

/// A number formatted as in Python, so that a message reads the same whether Rust or Python detected the problem.
fn shown(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    let plain = format!("{value:e}");
    match plain.split_once('e') {
        Some((digits, exponent)) if value.abs() >= 1e16 && value.is_finite() => format!("{digits}e+{exponent}"),
        _ => value.to_string(),
    }
}

#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    #[error("X has {given} columns; this model was started with {expected}.")]
    WrongColumns { given: usize, expected: usize },
    #[error("{what} has {given} rows; X has {expected}.")]
    WrongLength { what: &'static str, given: usize, expected: usize },
    #[error(
        "row {row} of X has {} (infinity) in column {column}; inputs must be finite, and NaN where a value is missing. Replace the value or \
         drop the row.",
        shown(*value)
    )]
    InfiniteInput { row: usize, column: usize, value: f64 },
    #[error("row {row} of X has {} in column {column}; magnitudes up to 1e100 are allowed. Rescale the column.", shown(*value))]
    HugeInput { row: usize, column: usize, value: f64 },
    #[error("row {row} of y is {}; targets must be finite, not NaN or infinity. Drop the row.", shown(*value))]
    BadTarget { row: usize, value: f64 },
    #[error("row {row} of y is {}; magnitudes up to 1e100 are allowed. Rescale y.", shown(*value))]
    HugeTarget { row: usize, value: f64 },
    #[error("row {row} of y is class {value}; this model has classes 0 to {last}.")]
    BadClass { row: usize, value: f64, last: i64 },
    #[error("row {row} of sample_weight is {value}; weights must be 0, or between 1e-12 and 1e12.")]
    BadWeight { row: usize, value: f64 },
    #[error("index {ix} is not in the active pool, which holds {n_active} points (0 to {last}).", last = *n_active as i64 - 1)]
    BadIndex { ix: usize, n_active: usize },
    #[error("index {ix} is given more than once; a point can be retired once.")]
    RepeatedIndex { ix: usize },
    #[error("quantile level {value} is not allowed; levels must lie strictly between 0 and 1.")]
    BadLevel { value: f64 },
    #[error("member {member} does not exist; the bank has {n_members} (0 to {last}).", last = *n_members as i64 - 1)]
    NoMember { member: usize, n_members: usize },
    #[error("particle {particle} does not exist; the cloud has {n_particles} (0 to {last}).", last = *n_particles as i64 - 1)]
    NoParticle { particle: usize, n_particles: usize },
    #[error("{what} is for {needs}; this is a {task} model.")]
    WrongTask { what: &'static str, needs: &'static str, task: &'static str },
    #[error("n_classes is {given}; it can only grow, and this model has {current}.")]
    FewerClasses { given: usize, current: usize },
    #[error(
        "this model was being used by another thread when the process was forked, and its copy here is unusable; start processes \
         with spawn or forkserver, or load the model from a file."
    )]
    Forked,
    #[error(
        "every member of this model needs the last target as an input (lags), and that is known only for the row after the last one learned: \
         not for rows at any distance, nor where labels are late. For that one row use predict_next or predict_next_dist; otherwise set \
         lags=0, or give the model members without lags, with max_active=\"auto\" or a list."
    )]
    NeedsLastTarget,
    #[error(
        "there are {given} classes; with these columns, leaves and particles a model can tell {allowed} apart, so that its memory stays \
         bounded. Combine rare labels, or use fewer particles."
    )]
    TooManyClasses { given: usize, allowed: usize },
    #[error("x has {given} rows to learn; that is more than the {n_test} rows to forecast.")]
    MoreLearnedThanForecast { given: usize, n_test: usize },

    #[error("{name}={given:?} is not known; choose one of {allowed}.")]
    UnknownOption { name: &'static str, given: String, allowed: String },
    #[error("{name}={given} is not allowed; it must be {allowed}.")]
    OutOfRange { name: &'static str, given: f64, allowed: &'static str },
    #[error("{name}={option:?} does not go with {with}; {remedy}.")]
    Incompatible { name: &'static str, option: &'static str, with: &'static str, remedy: String },
    #[error("the bank has no members; give at least one.")]
    NoMembers,

    #[error("this is not a Sapwood model file: {why}.")]
    NotAModel { why: &'static str },
    #[error("the model file has format version {given}; this release reads up to {supported}. Upgrade sapwood.")]
    NewerFormat { given: u32, supported: u32 },
    #[error("the model file ends early: {needed} bytes are needed at position {position}, {left} are left.")]
    Truncated { position: usize, needed: usize, left: usize },
    #[error("the model file is damaged: its checksum is {found:08x}, expected {expected:08x}.")]
    Checksum { found: u32, expected: u32 },
    #[error("the model file is inconsistent: {what}.")]
    Inconsistent { what: &'static str },

    #[error(
        "the model cannot be saved: {what}, so that the file could not be read again. This is a bug in Sapwood; please report it. No file was \
         written, and one that was saved before is still good."
    )]
    Unsound { what: &'static str },
    #[error("the engine failed: {what}. This is a bug in Sapwood; please report it with the data that led here.")]
    Panicked { what: String },
    #[error("this model cannot be used: an earlier call failed and left it half-updated ({what}). Load a saved model, or fit a new one.")]
    Unusable { what: String },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        use Error::*;
        match self {
            WrongColumns { .. }
            | WrongLength { .. }
            | InfiniteInput { .. }
            | HugeInput { .. }
            | BadTarget { .. }
            | HugeTarget { .. }
            | BadClass { .. }
            | BadWeight { .. }
            | BadIndex { .. }
            | RepeatedIndex { .. }
            | BadLevel { .. }
            | NoMember { .. }
            | NoParticle { .. }
            | Forked
            | WrongTask { .. }
            | FewerClasses { .. }
            | NeedsLastTarget
            | TooManyClasses { .. }
            | MoreLearnedThanForecast { .. } => ErrorKind::Input,
            UnknownOption { .. } | OutOfRange { .. } | Incompatible { .. } | NoMembers => ErrorKind::Config,
            NotAModel { .. } | NewerFormat { .. } | Truncated { .. } | Checksum { .. } | Inconsistent { .. } => ErrorKind::ModelFile,
            Unsound { .. } | Panicked { .. } | Unusable { .. } => ErrorKind::Engine,
        }
    }

    /// A short, stable identifier for programs.
    pub fn code(&self) -> &'static str {
        use Error::*;
        match self {
            WrongColumns { .. } => "wrong-columns",
            WrongLength { .. } => "wrong-length",
            InfiniteInput { .. } => "infinite-input",
            HugeInput { .. } => "huge-input",
            BadTarget { .. } => "bad-target",
            HugeTarget { .. } => "huge-target",
            BadClass { .. } => "bad-class",
            BadWeight { .. } => "bad-weight",
            BadIndex { .. } => "bad-index",
            RepeatedIndex { .. } => "repeated-index",
            BadLevel { .. } => "bad-level",
            NoMember { .. } => "no-member",
            NoParticle { .. } => "no-particle",
            Forked => "forked",
            WrongTask { .. } => "wrong-task",
            FewerClasses { .. } => "fewer-classes",
            NeedsLastTarget => "needs-last-target",
            TooManyClasses { .. } => "too-many-classes",
            MoreLearnedThanForecast { .. } => "more-learned-than-forecast",
            UnknownOption { .. } => "unknown-option",
            OutOfRange { .. } => "out-of-range",
            Incompatible { .. } => "incompatible",
            NoMembers => "no-members",
            NotAModel { .. } => "not-a-model",
            NewerFormat { .. } => "newer-format",
            Truncated { .. } => "truncated",
            Checksum { .. } => "checksum",
            Inconsistent { .. } => "inconsistent",
            Unsound { .. } => "unsound",
            Panicked { .. } => "engine-panic",
            Unusable { .. } => "unusable",
        }
    }

    /// One example of every error, in the order of the catalogue.
    pub fn examples() -> Vec<Error> {
        use Error::*;
        vec![
            WrongColumns { given: 4, expected: 5 },
            WrongLength { what: "y", given: 3, expected: 4 },
            InfiniteInput { row: 17, column: 2, value: f64::INFINITY },
            HugeInput { row: 17, column: 2, value: 1e300 },
            BadTarget { row: 17, value: f64::NAN },
            HugeTarget { row: 17, value: 1e300 },
            BadClass { row: 17, value: 3.0, last: 1 },
            BadWeight { row: 17, value: -1.0 },
            BadIndex { ix: 200, n_active: 100 },
            RepeatedIndex { ix: 3 },
            BadLevel { value: 1.5 },
            NoMember { member: 4, n_members: 4 },
            NoParticle { particle: 1000, n_particles: 1000 },
            Forked,
            WrongTask { what: "a quantile", needs: "regression", task: "classification" },
            FewerClasses { given: 2, current: 3 },
            NeedsLastTarget,
            TooManyClasses { given: 1001, allowed: 1000 },
            MoreLearnedThanForecast { given: 5, n_test: 4 },
            UnknownOption { name: "discard", given: "newest".into(), allowed: "oldest, random, alc, entropy".into() },
            OutOfRange { name: "forgetting", given: 1.5, allowed: "between 0 and 1" },
            Incompatible { name: "discard", option: "alc", with: "classification", remedy: "use oldest, random or entropy".into() },
            NoMembers,
            NotAModel { why: "it does not start with the magic bytes" },
            NewerFormat { given: 9, supported: 1 },
            Truncated { position: 20, needed: 8, left: 3 },
            Checksum { found: 1, expected: 2 },
            Inconsistent { what: "a leaf lists a point that is not active" },
            Unsound { what: "the bank's weights are not normalised" },
            Panicked { what: "index out of bounds".into() },
            Unusable { what: "index out of bounds".into() },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_in_python() {
        let all = [f64::NAN, f64::INFINITY, -1e300, 1.5e100, 2.0].map(shown);
        assert_eq!(all, ["nan", "inf", "-1e+300", "1.5e+100", "2"]);
    }

    #[test]
    fn codes_are_unique_and_messages_are_sentences() {
        let examples = Error::examples();
        for (i, e) in examples.iter().enumerate() {
            assert!(e.to_string().ends_with('.'), "{e}");
            assert!(examples[..i].iter().all(|other| other.code() != e.code()));
        }
    }
}
