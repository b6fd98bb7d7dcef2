//! HOT PATH
//! Runs of equal registers: reading them, and changing one register.

use super::layout::{Corrupted, HEADER_BYTES, REGISTERS};
use super::patch::{PATCH_BYTES_MAX, Patch};
use std::ops::Range;

/// The largest count that a run can hold.
pub(super) const VALUE_MAX: u8 = 32;

const ZERO_RUN_MAX: usize = 64;
const VALUE_RUN_MAX: usize = 4;
const XZERO: u8 = 0x40;
const VALUE: u8 = 0x80;
/// Runs among which equal neighbours are looked for after a change, as many as Redis looks at.
const MERGED_RUNS_MAX: usize = 5;
const RUN_BYTES_MAX: usize = 2;
/// Bytes behind a changed run that hold all runs that may be merged with it.
const BEHIND_BYTES: usize = MERGED_RUNS_MAX * RUN_BYTES_MAX;

/// Some registers in a row with the same value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RegisterRun {
    /// Their value, 0 to 32.
    pub(super) value: u8,
    /// How many.
    pub(super) registers: usize,
    /// Bytes of the opcode.
    pub(super) bytes: usize,
}

/// Where a register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RegisterPlace {
    /// Index of its run's opcode in the string.
    at: usize,
    /// Index of the opcode before, if there is one.
    before: Option<usize>,
    /// The first register of the run.
    first: usize,
    run: RegisterRun,
}

/// The run whose opcode is at an index. An XZERO at the very end, which only a damaged string has,
/// counts as followed by the zero byte that ends every string in Redis.
#[inline]
pub(super) fn run_at(string: &[u8], at: usize) -> Option<RegisterRun> {
    let opcode = *string.get(at)?;
    Some(if opcode & VALUE != 0 {
        let value = (opcode >> 2 & 0x1F) + 1;
        RegisterRun { value, registers: usize::from(opcode & 3) + 1, bytes: 1 }
    } else if opcode & XZERO == 0 {
        RegisterRun { value: 0, registers: usize::from(opcode) + 1, bytes: 1 }
    } else {
        let low = string.get(at + 1).copied().unwrap_or(0);
        let registers = usize::from(opcode & 0x3F) << 8 | usize::from(low);
        RegisterRun { value: 0, registers: registers + 1, bytes: 2 }
    })
}

/// Calls `visit` with every run and its registers. Those before an error have been visited.
pub(super) fn for_each(
    string: &[u8],
    mut visit: impl FnMut(Range<usize>, RegisterRun),
) -> Result<(), Corrupted> {
    let (mut at, mut first) = (HEADER_BYTES, 0);
    while let Some(run) = run_at(string, at) {
        let last = first + run.registers;
        if last > REGISTERS {
            return Err(Corrupted);
        }
        visit(first..last, run);
        (at, first) = (at + run.bytes, last);
    }
    if first == REGISTERS { Ok(()) } else { Err(Corrupted) }
}

/// Finds a register.
#[inline]
pub(super) fn locate(string: &[u8], index: usize) -> Result<RegisterPlace, Corrupted> {
    let (mut at, mut before, mut first) = (HEADER_BYTES, None, 0);
    loop {
        while let Some(&eight) = string.get(at..).and_then(|rest| rest.first_chunk())
            && let Some(registers) = registers_of_eight_bytes(eight)
            && index >= first + registers
        {
            first += registers;
            before = Some(at + 7);
            at += 8;
        }
        // Runs of one byte come in no order that could be predicted, so nothing branches on their
        // kind.
        while let Some(&opcode) = string.get(at)
            && opcode & (VALUE | XZERO) != XZERO
            && index >= first + registers_of_one_byte(opcode)
        {
            first += registers_of_one_byte(opcode);
            before = Some(at);
            at += 1;
        }
        let run = run_at(string, at).ok_or(Corrupted)?;
        if index < first + run.registers {
            return Ok(RegisterPlace { at, before, first, run });
        }
        before = Some(at);
        at += run.bytes;
        first += run.registers;
    }
}

/// Registers of eight runs of one byte each, all eight at once: a string of three thousand bytes is
/// walked through for every element. `None` if there is an XZERO among them.
#[inline]
fn registers_of_eight_bytes(opcodes: [u8; 8]) -> Option<usize> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let opcodes = u64::from_le_bytes(opcodes);
    if opcodes & !(opcodes >> 1) & (u64::from(XZERO) * EACH) != 0 {
        return None;
    }
    // Of a value two bits count, of zeros six: where the highest is set, the four between go.
    let is_value = (opcodes >> 7 & EACH) * 0x3C;
    let more = opcodes & (0x3F * EACH) & !is_value;
    // Sums of two do not leave sixteen bits, nor do those of all.
    let pairs = (more & 0x00FF_00FF_00FF_00FF) + (more >> 8 & 0x00FF_00FF_00FF_00FF);
    Some((pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize + 8)
}

/// Registers of a run that is one byte: two bits count those of a value, six those that are zero.
#[inline]
fn registers_of_one_byte(opcode: u8) -> usize {
    const IS_VALUE: u32 = VALUE.trailing_zeros();
    usize::from(opcode & (0x3F >> (opcode >> IS_VALUE << 2))) + 1
}

impl RegisterPlace {
    /// The register's value.
    pub(super) fn value(&self) -> u8 {
        self.run.value
    }

    /// What sets the register at `index`, of which this is the place, to a higher value; `None` if
    /// the string would become too long. Only the runs around it are looked at.
    pub(super) fn patch(
        &self,
        string: &[u8],
        index: usize,
        value: u8,
        bytes_max: usize,
    ) -> Option<Patch> {
        let split = self.split(index, value);
        let growth = split.len.saturating_sub(self.run.bytes);
        if growth > 0 && string.len() + growth > bytes_max {
            return None;
        }
        let start = self.before.unwrap_or(self.at);
        let behind = string.len().min(self.at + self.run.bytes);
        let end = string.len().min(behind + BEHIND_BYTES);
        let mut runs = Opcodes::default();
        runs.push_bytes(&string[start..self.at]);
        runs.push_bytes(split.bytes());
        runs.push_bytes(&string[behind..end]);
        // An XZERO that was cut off took a byte that was not there.
        runs.len -= self.at + self.run.bytes - behind;
        runs.merge_neighbours();
        Some(Patch::between(start, &string[start..end], runs.bytes()))
    }

    /// The run with one register changed: what is before it, itself, what is behind it.
    fn split(&self, index: usize, value: u8) -> Opcodes {
        let mut opcodes = Opcodes::default();
        let last = self.first + self.run.registers - 1;
        opcodes.push(self.run.value, index - self.first);
        opcodes.push(value, 1);
        opcodes.push(self.run.value, last - index);
        opcodes
    }
}

/// A few runs.
#[derive(Default)]
struct Opcodes {
    bytes: [u8; PATCH_BYTES_MAX],
    len: usize,
}

/// A run before, at most XZERO, VAL, XZERO, and those behind.
const _: () = assert!(RUN_BYTES_MAX + 5 + BEHIND_BYTES <= PATCH_BYTES_MAX);

impl Opcodes {
    fn push(&mut self, value: u8, registers: usize) {
        let Some(more) = registers.checked_sub(1) else { return };
        if value > 0 {
            self.push_byte(value_opcode(value, registers));
        } else if registers <= ZERO_RUN_MAX {
            self.push_byte(more as u8);
        } else {
            self.push_byte(XZERO | (more >> 8) as u8);
            self.push_byte(more as u8);
        }
    }

    fn push_byte(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        self.bytes[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Makes one run of equal neighbours where one opcode can hold both, looking at a few runs. A
    /// merged run is looked at again: it may go on with the next. Each look counts, merged or not.
    fn merge_neighbours(&mut self) {
        let mut at = 0;
        for _ in 0..MERGED_RUNS_MAX {
            let Some(run) = run_at(self.bytes(), at) else { return };
            match run_at(self.bytes(), at + run.bytes) {
                Some(next)
                    if run.value > 0
                        && next.value == run.value
                        && run.registers + next.registers <= VALUE_RUN_MAX =>
                {
                    self.bytes[at] = value_opcode(run.value, run.registers + next.registers);
                    self.bytes.copy_within(at + 2..self.len, at + 1);
                    self.len -= 1;
                }
                _ => at += run.bytes,
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[inline]
fn value_opcode(value: u8, registers: usize) -> u8 {
    VALUE | (value - 1) << 2 | (registers - 1) as u8
}

/// The empty HyperLogLog's only run.
pub(super) fn all_zero() -> [u8; 2] {
    let more = REGISTERS - 1;
    [XZERO | (more >> 8) as u8, more as u8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eight_bytes_have_the_registers_of_each(opcodes in any::<[u8; 8]>()) {
            let has_xzero = opcodes.iter().any(|opcode| opcode & (VALUE | XZERO) == XZERO);
            let sum = opcodes.iter().map(|&opcode| registers_of_one_byte(opcode)).sum();
            prop_assert_eq!(registers_of_eight_bytes(opcodes), (!has_xzero).then_some(sum));
        }

        #[test]
        fn a_register_is_found_in_its_run(
            opcodes in proptest::collection::vec(any::<u8>(), 0..60), index in 0..400usize,
        ) {
            let string = [&[0; HEADER_BYTES][..], &opcodes].concat();
            let (mut at, mut before, mut first) = (HEADER_BYTES, None, 0);
            let mut expected = Err(Corrupted);
            while let Some(run) = run_at(&string, at) {
                if index < first + run.registers {
                    expected = Ok(RegisterPlace { at, before, first, run });
                    break;
                }
                before = Some(at);
                (at, first) = (at + run.bytes, first + run.registers);
            }
            prop_assert_eq!(locate(&string, index), expected);
        }
    }
}
