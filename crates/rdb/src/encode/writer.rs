//! The parts that all bodies are made of: lengths, strings, numbers of fixed width.

use crate::encode::options::{Compression, EncodeOptions};
use crate::lzf::Compressor;
use crate::model::StreamId;
use crate::number;

/// Strings up to this length are looked at for a number: that of -2,147,483,648.
const NUMBER_BYTES_MAX: usize = 11;
/// Strings up to this length are never compressed.
const UNCOMPRESSED_BYTES_MAX: usize = 20;

/// Appends a body to the caller's bytes.
#[derive(Debug)]
pub(super) struct Writer<'o> {
    pub options: &'o EncodeOptions,
    out: &'o mut Vec<u8>,
    compressor: Compressor,
    /// The last string compressed.
    packed: Vec<u8>,
}

impl<'o> Writer<'o> {
    pub fn new(options: &'o EncodeOptions, out: &'o mut Vec<u8>) -> Writer<'o> {
        Writer { options, out, compressor: Compressor::default(), packed: Vec::new() }
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    pub fn u64_le(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    pub fn count(&mut self, count: usize) {
        self.length(count as u64);
    }

    pub fn length(&mut self, length: u64) {
        match length {
            0..0x40 => self.bytes(&[length as u8]),
            0x40..0x4000 => self.bytes(&(length as u16 | 0x4000).to_be_bytes()),
            0x4000..=0xffff_ffff => {
                self.bytes(&[0x80]);
                self.bytes(&(length as u32).to_be_bytes());
            }
            _ => {
                self.bytes(&[0x81]);
                self.bytes(&length.to_be_bytes());
            }
        }
    }

    /// An identity as two lengths.
    pub fn id(&mut self, id: StreamId) {
        self.length(id.ms);
        self.length(id.sequence);
    }

    /// A string: as a number, compressed, or as it is.
    pub fn string(&mut self, string: &[u8]) {
        if string.len() <= NUMBER_BYTES_MAX
            && let Some(value) = number::integer(string)
            && self.number(value)
        {
            return;
        }
        if string.len() > UNCOMPRESSED_BYTES_MAX && self.options.compression == Compression::Lzf {
            self.packed.clear();
            if self.compressor.compress(string, &mut self.packed) {
                self.out.push(0xc3);
                self.count(self.packed.len());
                self.count(string.len());
                self.out.extend_from_slice(&self.packed);
                return;
            }
        }
        self.count(string.len());
        self.bytes(string);
    }

    /// Writes a string that is a number of at most 32 bits; false for others.
    fn number(&mut self, value: i64) -> bool {
        if let Ok(value) = i8::try_from(value) {
            self.bytes(&[0xc0]);
            self.bytes(&value.to_le_bytes());
        } else if let Ok(value) = i16::try_from(value) {
            self.bytes(&[0xc1]);
            self.bytes(&value.to_le_bytes());
        } else if let Ok(value) = i32::try_from(value) {
            self.bytes(&[0xc2]);
            self.bytes(&value.to_le_bytes());
        } else {
            return false;
        }
        true
    }
}
