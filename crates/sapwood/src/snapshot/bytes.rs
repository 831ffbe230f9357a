//! Little-endian primitives with bounds.

use crate::error::{Error, Result};

#[derive(Default)]
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    pub fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    pub fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    pub fn f64(&mut self, value: f64) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    pub fn bytes(&mut self, values: &[u8]) {
        self.u64(values.len() as u64);
        self.out.extend_from_slice(values);
    }

    pub fn f64s(&mut self, values: impl ExactSizeIterator<Item = f64>) {
        self.u64(values.len() as u64);
        values.for_each(|value| self.f64(value));
    }

    pub fn u32s(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        self.u64(values.len() as u64);
        values.for_each(|value| self.u32(value));
    }

    pub fn option_f64(&mut self, value: Option<f64>) {
        self.bool(value.is_some());
        self.f64(value.unwrap_or(0.0));
    }

    pub fn option_u64(&mut self, value: Option<usize>) {
        self.bool(value.is_some());
        self.u64(value.unwrap_or(0) as u64);
    }
}

/// What stands at a place in a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    U8,
    Bool,
    U32,
    U64,
    F64,
    /// A u64 that counts the items of `size` bytes that follow it; items of unequal size are at least that long.
    Count {
        size: usize,
    },
}

/// A field of a model file: its kind, and the position of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub kind: FieldKind,
    pub position: usize,
}

pub struct Reader<'a> {
    data: &'a [u8],
    position: usize,
    /// The fields read so far, if they are recorded.
    fields: Option<Vec<Field>>,
}

impl<'a> Reader<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, position: 0, fields: None }
    }

    pub fn recording(data: &'a [u8]) -> Self {
        Self { fields: Some(Vec::new()), ..Self::new(data) }
    }

    pub fn into_fields(self) -> Vec<Field> {
        self.fields.unwrap_or_default()
    }

    fn record(&mut self, kind: FieldKind) {
        if let Some(fields) = &mut self.fields {
            fields.push(Field { kind, position: self.position });
        }
    }

    pub fn left(&self) -> usize {
        self.data.len() - self.position
    }

    /// Everything has been read.
    pub fn finish(&self) -> Result<()> {
        if self.left() == 0 { Ok(()) } else { Err(Error::Inconsistent { what: "there are bytes after its end" }) }
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        if n > self.left() {
            return Err(Error::Truncated { position: self.position, needed: n, left: self.left() });
        }
        let taken = &self.data[self.position..self.position + n];
        self.position += n;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("as many bytes as were taken"))
    }

    pub fn u8(&mut self) -> Result<u8> {
        self.record(FieldKind::U8);
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub fn bool(&mut self) -> Result<bool> {
        self.record(FieldKind::Bool);
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Error::Inconsistent { what: "a truth value is neither 0 nor 1" }),
        }
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.record(FieldKind::U32);
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.record(FieldKind::U64);
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn f64(&mut self) -> Result<f64> {
        self.record(FieldKind::F64);
        Ok(f64::from_le_bytes(self.array()?))
    }

    pub fn finite(&mut self) -> Result<f64> {
        let value = self.f64()?;
        if value.is_finite() { Ok(value) } else { Err(Error::Inconsistent { what: "a number that must be finite is not" }) }
    }

    /// A count of things that take at least `size` bytes each: it cannot promise more than is left.
    pub fn count(&mut self, size: usize) -> Result<usize> {
        self.record(FieldKind::Count { size });
        let n = u64::from_le_bytes(self.array()?);
        let possible = (self.left() / size.max(1)) as u64;
        if n > possible {
            return Err(Error::Truncated { position: self.position, needed: usize::try_from(n).unwrap_or(usize::MAX), left: self.left() });
        }
        Ok(n as usize)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.count(1)?;
        self.take(n)
    }

    pub fn f64s(&mut self) -> Result<Vec<f64>> {
        let n = self.count(8)?;
        (0..n).map(|_| self.f64()).collect()
    }

    /// As many finite numbers as expected.
    pub fn finite_f64s(&mut self, expected: usize) -> Result<Vec<f64>> {
        let values = self.f64s()?;
        if values.len() != expected {
            return Err(Error::Inconsistent { what: "a list of numbers has the wrong length" });
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Error::Inconsistent { what: "a number that must be finite is not" });
        }
        Ok(values)
    }

    pub fn u32s(&mut self) -> Result<Vec<u32>> {
        let n = self.count(4)?;
        (0..n).map(|_| self.u32()).collect()
    }

    pub fn option_f64(&mut self) -> Result<Option<f64>> {
        let some = self.bool()?;
        let value = self.f64()?;
        Ok(some.then_some(value))
    }

    pub fn option_u64(&mut self) -> Result<Option<usize>> {
        let some = self.bool()?;
        let value = self.u64()?;
        Ok(some.then_some(value as usize))
    }
}
