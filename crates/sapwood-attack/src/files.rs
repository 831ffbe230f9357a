//! Model files that somebody has changed and sealed again.

use sapwood::bank::Bank;
use sapwood::error::ErrorKind;
use sapwood::snapshot::{self, Field, FieldKind};

use crate::choices::Choices;
use crate::health::check;
use crate::models::{Table, seed_files};
use crate::{Outcome, Verdict};

/// Magic bytes, version, length and checksum.
const HEADER_LEN: usize = 24;

/// Numbers that break arithmetic.
const NUMBERS: [f64; 14] =
    [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN, 5e-324, 1e100, -1e100, 1e200, 1e-200];
/// Whole numbers that break counters and lengths.
const WHOLE: [u64; 12] = [0, 1, 2, 3, 255, 1 << 16, 10_000_000, 1 << 31, u32::MAX as u64, 1 << 48, u64::MAX >> 1, u64::MAX];

/// A file with some fields changed, in ways that suit what they hold, and sealed again.
pub fn mutated(file: &[u8], choices: &mut Choices) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..1 + choices.below(4) {
        // A file that is refused already is changed blindly.
        match snapshot::fields(&file) {
            Ok(fields) if !choices.once_in(16) => {
                let field = fields[choices.below(fields.len())];
                change_field(&mut file, field, &fields, choices);
            }
            _ => change_bytes(&mut file, choices),
        }
        snapshot::reseal(&mut file);
    }
    file
}

fn change_bytes(file: &mut [u8], choices: &mut Choices) {
    if file.len() <= HEADER_LEN {
        return;
    }
    let at = HEADER_LEN + choices.below(file.len() - HEADER_LEN);
    match choices.below(3) {
        0 => file[at] ^= 1 << choices.below(8),
        1 => file[at] = choices.byte(),
        _ => {
            let from = HEADER_LEN + choices.below(file.len() - HEADER_LEN);
            let n = (file.len() - at.max(from)).min(8);
            file.copy_within(from..from + n, at);
        }
    }
}

fn change_field(file: &mut Vec<u8>, field: Field, fields: &[Field], choices: &mut Choices) {
    let at = field.position;
    match field.kind {
        FieldKind::U8 => file[at] = choices.byte(),
        FieldKind::Bool => file[at] ^= 1,
        FieldKind::U32 => {
            let value = u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
            file[at..at + 4].copy_from_slice(&(whole(u64::from(value), choices) as u32).to_le_bytes());
        }
        FieldKind::U64 => {
            let value = u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
            file[at..at + 8].copy_from_slice(&whole(value, choices).to_le_bytes());
        }
        FieldKind::F64 => {
            let value = f64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
            let number = match choices.below(8) {
                0 => another_number(file, fields, choices),
                1 => value * (1.0 + 1e-6 * (choices.uniform() - 0.5)),
                2 => value * 10f64.powi(choices.below(9) as i32 - 4),
                3 => -value,
                4 => value + choices.uniform() - 0.5,
                5 => choices.uniform(),
                _ => choices.pick(&NUMBERS),
            };
            file[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        FieldKind::Count { size } => change_list(file, at, size, choices),
    }
}

fn whole(value: u64, choices: &mut Choices) -> u64 {
    match choices.below(5) {
        0 => value.wrapping_add(1),
        1 => value.wrapping_sub(1),
        2 => value ^ (1 << choices.below(64)),
        3 => choices.below(16) as u64,
        _ => choices.pick(&WHOLE),
    }
}

fn another_number(file: &[u8], fields: &[Field], choices: &mut Choices) -> f64 {
    let field = fields[choices.below(fields.len())];
    match (field.kind, file.get(field.position..field.position + 8)) {
        (FieldKind::F64, Some(bytes)) => f64::from_le_bytes(bytes.try_into().expect("eight bytes")),
        _ => 0.5,
    }
}

/// Remove, repeat or exchange items of a list, and count them again; or count wrongly.
fn change_list(file: &mut Vec<u8>, at: usize, size: usize, choices: &mut Choices) {
    let n = u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
    let first = at + 8;
    let fits = size > 1 && n > 0 && (n as usize) <= (file.len() - first) / size;
    let counted = match choices.below(4) {
        0 if fits => {
            let item = first + size * choices.below(n as usize);
            file.drain(item..item + size);
            n - 1
        }
        1 if fits => {
            let item = first + size * choices.below(n as usize);
            let copy = file[item..item + size].to_vec();
            file.splice(item..item, copy);
            n + 1
        }
        2 if fits => {
            let (one, other) = (first + size * choices.below(n as usize), first + size * choices.below(n as usize));
            let copy = file[one..one + size].to_vec();
            file.copy_within(other..other + size, one);
            file[other..other + size].copy_from_slice(&copy);
            n
        }
        _ => whole(n, choices),
    };
    file[at..at + 8].copy_from_slice(&counted.to_le_bytes());
}

/// A sealed file is refused as a model file, or loads to a model that predicts finitely, learns, saves and loads again.
pub fn resealed_file_is_refused_or_works(file: &[u8], choices: &mut Choices) -> Verdict {
    let mut bank = match snapshot::load(file) {
        Ok((bank, _)) => bank,
        Err(error) if error.kind() == ErrorKind::ModelFile => return Ok(Outcome::Refused),
        Err(error) => return Err(format!("refused with an error that is not about the file: {error}")),
    };
    use_it(&mut bank, choices).map(|()| Outcome::Accepted)
}

fn use_it(bank: &mut Bank, choices: &mut Choices) -> Result<(), String> {
    let ask = Table::new(choices, bank, 3, 0);
    check(bank, &ask.x).map_err(|wrong| format!("as loaded: {wrong}"))?;
    Table::new(choices, bank, 6, 0).teach(bank)?;
    check(bank, &ask.x).map_err(|wrong| format!("after learning: {wrong}"))?;
    if choices.once_in(4) {
        bank.rejuvenate();
        check(bank, &ask.x).map_err(|wrong| format!("rejuvenated: {wrong}"))?;
    }
    Ok(())
}

pub(crate) fn case_of(choices: &mut Choices) -> Verdict {
    let file = choices.pick(&seed_files().iter().collect::<Vec<_>>());
    let file = mutated(file, choices);
    resealed_file_is_refused_or_works(&file, choices)
}
