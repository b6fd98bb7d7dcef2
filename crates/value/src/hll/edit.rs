//! A HyperLogLog being changed.

use super::dense::{self, DENSE_BYTES};
use super::element::Element;
use super::estimate::Registers;
use super::layout::{Corrupted, HEADER_BYTES};
use super::patch::Patch;
use super::sparse;
use super::view::{COUNT_FIELD, DENSE, ENCODING_AT, Encoding, Hll, MAGIC, OUT_OF_DATE, SPARSE};

/// What adding an element takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// A few bytes of the string.
    Patch(Patch),
    /// A sparse string becomes dense: the element's count is too high for it, or it would be too
    /// long.
    Promote(Element),
}

/// A HyperLogLog of one's own.
#[derive(Clone, Debug)]
pub struct HllBuf {
    string: Vec<u8>,
}

impl Default for HllBuf {
    /// An empty one, sparse, with a valid count of 0.
    fn default() -> Self {
        let mut string = vec![0; HEADER_BYTES];
        string[..MAGIC.len()].copy_from_slice(&MAGIC);
        string[ENCODING_AT] = SPARSE;
        string.extend_from_slice(&sparse::all_zero());
        HllBuf { string }
    }
}

impl From<Hll<'_>> for HllBuf {
    fn from(hll: Hll<'_>) -> HllBuf {
        HllBuf { string: hll.bytes().to_vec() }
    }
}

impl HllBuf {
    /// The HyperLogLog, to be read.
    #[inline]
    pub fn hll(&self) -> Hll<'_> {
        Hll::new(&self.string).expect("made of a HyperLogLog and changed like one")
    }

    /// The string.
    pub fn bytes(&self) -> &[u8] {
        &self.string
    }

    /// Adds an element; returns true if anything changed. A sparse string that would have more than
    /// `sparse_bytes_max` bytes becomes dense. After an error nothing has changed.
    pub fn add(&mut self, element: Element, sparse_bytes_max: usize) -> Result<bool, Corrupted> {
        match self.hll().change_for(element, sparse_bytes_max)? {
            Some(Change::Patch(patch)) => patch.apply(&mut self.string),
            Some(Change::Promote(element)) => self.promote(element)?,
            None => return Ok(false),
        }
        self.invalidate_count();
        Ok(true)
    }

    /// Makes it dense; returns true if it was not. The count stays as it was.
    pub fn make_dense(&mut self) -> Result<bool, Corrupted> {
        if self.hll().encoding() == Encoding::Dense {
            return Ok(false);
        }
        let registers = self.hll().registers()?;
        self.become_dense(&registers);
        Ok(true)
    }

    /// Raises the registers to those of `registers` that are higher. `encoding` is what it shall be
    /// at least: one that is dense stays so.
    pub fn raise(
        &mut self,
        registers: &Registers,
        encoding: Encoding,
        sparse_bytes_max: usize,
    ) -> Result<(), Corrupted> {
        if encoding == Encoding::Dense || self.hll().encoding() == Encoding::Dense {
            let mut all = self.hll().registers()?;
            all.0.iter_mut().zip(registers.0.iter()).for_each(|(old, new)| *old = (*new).max(*old));
            self.become_dense(&all);
        } else {
            for (index, &count) in registers.0.iter().enumerate() {
                if count > 0 {
                    self.add(Element { index, count }, sparse_bytes_max)?;
                }
            }
        }
        self.invalidate_count();
        Ok(())
    }

    /// Says that the cached count is out of date.
    pub fn invalidate_count(&mut self) {
        self.string[COUNT_FIELD.end - 1] |= OUT_OF_DATE;
    }

    /// Makes a sparse one dense and adds an element, as [`Change::Promote`] says.
    pub fn promote(&mut self, element: Element) -> Result<(), Corrupted> {
        self.make_dense()?;
        dense::set_register(&self.string, element.index, element.count).apply(&mut self.string);
        self.invalidate_count();
        Ok(())
    }

    fn become_dense(&mut self, registers: &Registers) {
        self.string.truncate(HEADER_BYTES);
        self.string.reserve_exact(DENSE_BYTES - HEADER_BYTES);
        self.string[ENCODING_AT] = DENSE;
        dense::append(&mut self.string, &registers.0);
    }
}
