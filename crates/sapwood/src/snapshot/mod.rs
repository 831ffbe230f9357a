//! Model files: a versioned, checksummed binary form of a whole bank.
//!
//! ```text
//! magic    8 bytes  "SAPWOOD\x1a"
//! version  u32
//! length   u64      of the body
//! checksum u32      CRC-32 of everything but the magic and itself
//! body     meta (length, bytes), then the bank
//! ```
//!
//! Everything is little-endian. A file is trusted in nothing: the checksum is tested first, every declared length is compared with the
//! bytes that are left before anything is allocated, and what is read is checked against the invariants that the engine relies on.
//!
//! Nodes are written in the order of a walk from the roots, children before parents, so the bytes depend only on what the model is, never
//! on how its memory happened to be used; and a file cannot describe a cycle.

mod bytes;
mod cloud;
mod effects;
mod invariants;
mod parts;
mod pool;
mod trivial;

use crate::bank::Bank;
use crate::error::{Error, Result};
pub use bytes::{Field, FieldKind};
pub(crate) use bytes::{Reader, Writer};

const MAGIC: &[u8; 8] = b"SAPWOOD\x1a";
/// The newest format this release writes and reads.
pub const FORMAT_VERSION: u32 = 3;
const HEADER_LEN: usize = 24;

/// The bytes of a model file; `meta` is carried along unread. Fails rather than write what [`load`] would refuse.
pub fn save(bank: &Bank, meta: &[u8]) -> Result<Vec<u8>> {
    invariants::check_bank(bank).map_err(|error| match error {
        Error::Inconsistent { what } => Error::Unsound { what },
        other => other,
    })?;
    let mut body = Writer::default();
    body.bytes(meta);
    parts::write_bank(&mut body, bank);
    let body = body.into_bytes();

    let mut file = Vec::with_capacity(HEADER_LEN + body.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    file.extend_from_slice(&(body.len() as u64).to_le_bytes());
    file.extend_from_slice(&checksum(FORMAT_VERSION, body.len() as u64, &body).to_le_bytes());
    file.extend_from_slice(&body);
    Ok(file)
}

/// The bank and the meta bytes in a model file.
pub fn load(file: &[u8]) -> Result<(Bank, Vec<u8>)> {
    let (version, body) = open(file)?;
    read(Reader::new(body), version).map(|(bank, meta, _)| (bank, meta))
}

/// Every field of a model file after its header, in order. For tools that take files apart.
pub fn fields(file: &[u8]) -> Result<Vec<Field>> {
    let (version, body) = open(file)?;
    let (_, _, reader) = read(Reader::recording(body), version)?;
    let from_start = |field: Field| Field { position: HEADER_LEN + field.position, ..field };
    Ok(reader.into_fields().into_iter().map(from_start).collect())
}

fn read(mut reader: Reader, version: u32) -> Result<(Bank, Vec<u8>, Reader)> {
    let meta = reader.bytes()?.to_vec();
    let bank = parts::read_bank(&mut reader, version)?;
    reader.finish()?;
    Ok((bank, meta, reader))
}

/// Give a model file whose body has been changed the length and the checksum of what it holds. For tests and tools: a file that was damaged
/// stays damaged, but is no longer refused for it at once.
pub fn reseal(file: &mut [u8]) {
    let Some((header, body)) = file.split_at_mut_checked(HEADER_LEN) else { return };
    let length = (body.len() as u64).to_le_bytes();
    header[12..20].copy_from_slice(&length);
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[8..20]);
    hasher.update(body);
    header[20..24].copy_from_slice(&hasher.finalize().to_le_bytes());
}

/// The version and the body of a file whose header and checksum are right.
fn open(file: &[u8]) -> Result<(u32, &[u8])> {
    if file.is_empty() {
        return Err(Error::NotAModel { why: "it is empty" });
    }
    let n_magic = file.len().min(MAGIC.len());
    if file[..n_magic] != MAGIC[..n_magic] {
        return Err(Error::NotAModel { why: "it does not start with the magic bytes" });
    }
    if file.len() < HEADER_LEN {
        return Err(Error::Truncated { position: file.len(), needed: HEADER_LEN - file.len(), left: 0 });
    }
    let mut header = Reader::new(&file[MAGIC.len()..HEADER_LEN]);
    let (version, length, expected) = (header.u32()?, header.u64()?, header.u32()?);
    let body = &file[HEADER_LEN..];
    if (body.len() as u64) < length {
        // A flipped bit in the length also ends here, with the position it claims.
        return Err(Error::Truncated { position: file.len(), needed: (length as usize).saturating_sub(body.len()), left: 0 });
    }
    let found = checksum(version, length, body);
    if found != expected || body.len() as u64 != length {
        // A file from the future keeps the header and its checksum, so its version can be believed.
        return Err(Error::Checksum { found, expected });
    }
    if version == 0 || version > FORMAT_VERSION {
        return Err(Error::NewerFormat { given: version, supported: FORMAT_VERSION });
    }
    Ok((version, body))
}

fn checksum(version: u32, length: u64, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&version.to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}
