//! Reading a string that may be a HyperLogLog.

use super::dense::{self, DENSE_BYTES};
use super::edit::Change;
use super::element::Element;
use super::estimate::{Histogram, Registers};
use super::layout::{Corrupted, HEADER_BYTES, NotHll, REGISTERS};
use super::sparse;
use std::fmt::Write;
use std::ops::Range;

/// Where the cached count is in the string: 64 bits, low byte first, the highest bit set if it is
/// out of date.
pub const COUNT_FIELD: Range<usize> = 8..16;

pub(super) const MAGIC: [u8; 4] = *b"HYLL";
pub(super) const ENCODING_AT: usize = 4;
pub(super) const DENSE: u8 = 0;
pub(super) const SPARSE: u8 = 1;
/// In the last byte of the count.
pub(super) const OUT_OF_DATE: u8 = 0x80;

/// A string with the header of a HyperLogLog.
#[derive(Clone, Copy)]
pub struct Hll<'a> {
    string: &'a [u8],
    encoding: Encoding,
}

/// How the registers are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// Six bits each.
    Dense,
    /// As runs of equal ones.
    Sparse,
}

impl<'a> Hll<'a> {
    /// Looks at the header.
    #[inline]
    pub fn new(string: &'a [u8]) -> Result<Hll<'a>, NotHll> {
        let Some(header) = string.first_chunk::<HEADER_BYTES>() else { return Err(NotHll) };
        let encoding = match header[ENCODING_AT] {
            DENSE if string.len() == DENSE_BYTES => Encoding::Dense,
            SPARSE => Encoding::Sparse,
            _ => return Err(NotHll),
        };
        if header.starts_with(&MAGIC) { Ok(Hll { string, encoding }) } else { Err(NotHll) }
    }

    /// The whole string.
    pub fn bytes(&self) -> &'a [u8] {
        self.string
    }

    /// How the registers are stored.
    #[inline]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The count as it was when the registers changed last, unless it is out of date.
    #[inline]
    pub fn cached_count(&self) -> Option<u64> {
        let field = self.string[COUNT_FIELD].first_chunk::<8>()?;
        (field[7] & OUT_OF_DATE == 0).then_some(u64::from_le_bytes(*field))
    }

    /// Counts again.
    pub fn count(&self) -> Result<u64, Corrupted> {
        // Two at a time: neighbours are often equal, and adding to a number twice in a row waits.
        let mut odd_and_even = [[0u32; 64]; 2];
        match self.encoding {
            Encoding::Dense => dense::for_each(self.string, |index, value| {
                odd_and_even[index % 2][usize::from(value)] += 1;
            }),
            Encoding::Sparse => sparse::for_each(self.string, |registers, run| {
                odd_and_even[0][usize::from(run.value)] += registers.len() as u32;
            })?,
        }
        let [odd, even] = odd_and_even;
        Ok(Histogram(std::array::from_fn(|value| odd[value] + even[value])).count())
    }

    /// Raises each of `registers` to this HyperLogLog's if that is higher.
    pub fn merge_into(&self, registers: &mut Registers) -> Result<(), Corrupted> {
        let merged = &mut registers.0;
        match self.encoding {
            Encoding::Dense => dense::for_each(self.string, |index, value| {
                merged[index] = merged[index].max(value);
            }),
            Encoding::Sparse => sparse::for_each(self.string, |registers, run| {
                if run.value > 0 {
                    merged[registers].iter_mut().for_each(|old| *old = run.value.max(*old));
                }
            })?,
        }
        Ok(())
    }

    /// All registers in order.
    pub fn registers(&self) -> Result<Registers, Corrupted> {
        let mut registers = Registers::default();
        self.merge_into(&mut registers)?;
        Ok(registers)
    }

    /// What has to change to add an element, besides [`Hll::invalidation`]; `None` if nothing has
    /// to. A sparse string that would have more than `sparse_bytes_max` bytes becomes dense.
    #[inline]
    pub fn change_for(
        &self,
        element: Element,
        sparse_bytes_max: usize,
    ) -> Result<Option<Change>, Corrupted> {
        let Element { index, count } = element;
        match self.encoding {
            Encoding::Dense => {
                let is_higher = count > dense::register(self.string, index);
                let patch = || Change::Patch(dense::set_register(self.string, index, count));
                Ok(is_higher.then(patch))
            }
            Encoding::Sparse if count > sparse::VALUE_MAX => Ok(Some(Change::Promote(element))),
            Encoding::Sparse => {
                let place = sparse::locate(self.string, index)?;
                if count <= place.value() {
                    return Ok(None);
                }
                let patch = place.patch(self.string, index, count, sparse_bytes_max);
                Ok(Some(patch.map_or(Change::Promote(element), Change::Patch)))
            }
        }
    }

    /// What to write, and where, so that the cached count is out of date; `None` if it is.
    #[inline]
    pub fn invalidation(&self) -> Option<(usize, u8)> {
        let at = COUNT_FIELD.end - 1;
        let byte = self.string[at];
        (byte & OUT_OF_DATE == 0).then_some((at, byte | OUT_OF_DATE))
    }

    /// The runs of a sparse HyperLogLog as `PFDEBUG DECODE` shows them: `z:3 v:2,1 Z:16380`. `None`
    /// for a dense one.
    pub fn runs_as_text(&self) -> Option<String> {
        if self.encoding == Encoding::Dense {
            return None;
        }
        let (mut text, mut at) = (String::new(), HEADER_BYTES);
        while let Some(run) = sparse::run_at(self.string, at) {
            let blank = if text.is_empty() { "" } else { " " };
            let registers = run.registers;
            // Writing to a string does not fail.
            let _ = match (run.value, run.bytes) {
                (0, 1) => write!(text, "{blank}z:{registers}"),
                (0, _) => write!(text, "{blank}Z:{registers}"),
                (value, _) => write!(text, "{blank}v:{value},{registers}"),
            };
            at += run.bytes;
        }
        Some(text)
    }
}

impl Registers {
    /// The values, from the first register to the last.
    pub fn values(&self) -> &[u8; REGISTERS] {
        &self.0
    }
}
