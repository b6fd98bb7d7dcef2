//! Slices that leave by one system call, the cheapest that takes them.

use std::io::{self, IoSlice, Write};

/// Writes slices as [`Write::write_vectored`] does; one alone, which is the rule, by `write`: the
/// kernel takes a list of slices over at a cost of its own.
///
/// # Errors
/// What the writer says.
#[inline]
pub fn write_slices(writer: &mut impl Write, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    match slices {
        [one] => writer.write(one),
        many => writer.write_vectored(many),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Calls {
        plain: usize,
        vectored: usize,
    }

    impl Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.plain += 1;
            Ok(bytes.len())
        }

        fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            self.vectored += 1;
            Ok(slices.iter().map(|slice| slice.len()).sum())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn one_slice_is_written_plainly_and_more_together() {
        let mut calls = Calls::default();
        let slice = || IoSlice::new(b"abc");
        assert_eq!(write_slices(&mut calls, &[slice()]).unwrap(), 3);
        assert_eq!((calls.plain, calls.vectored), (1, 0));
        assert_eq!(write_slices(&mut calls, &[slice(), slice()]).unwrap(), 6);
        assert_eq!((calls.plain, calls.vectored), (1, 1));
    }
}
