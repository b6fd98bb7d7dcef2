//! Memory that begins with a page: what a disk needs that is written to around the kernel's cache.

/// Length of a page, and a multiple of every sector in use.
pub const PAGE_BYTES: usize = 4096;

/// Bytes that begin with a page of memory.
///
/// They are a vector's, behind as many that mean nothing as lead to the next page: a vector that
/// does not grow does not move.
#[derive(Debug, Default)]
pub struct Pages {
    bytes: Vec<u8>,
    start: usize,
}

impl Pages {
    /// Empties it and makes room: for that many bytes it stays where it begins. Memory that is much
    /// more than that is given back.
    pub fn begin(&mut self, bytes: usize) {
        let wanted = bytes.next_power_of_two().max(PAGE_BYTES) + PAGE_BYTES;
        if self.bytes.capacity() < wanted || self.bytes.capacity() / 4 > wanted {
            self.bytes = Vec::with_capacity(wanted);
        }
        self.bytes.clear();
        // The standard library allows itself not to know; then the disk finds that it does not.
        self.start = self.bytes.as_ptr().align_offset(PAGE_BYTES).min(PAGE_BYTES);
        self.bytes.resize(self.start, 0);
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// All that was appended.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGE_BYTES, Pages};

    #[test]
    fn they_begin_with_a_page_whatever_was_there_before() {
        let mut pages = Pages::default();
        for count in [0, 1, PAGE_BYTES, 100_000, 5, 1 << 20, 3] {
            pages.begin(count);
            let start = pages.bytes().as_ptr();
            for byte in 0..count {
                pages.push(&[byte as u8]);
            }
            assert!((0..count).all(|byte| pages.bytes()[byte] == byte as u8));
            assert_eq!((pages.bytes().len(), pages.bytes().as_ptr()), (count, start));
            assert_eq!(start as usize % PAGE_BYTES, 0);
        }
        assert!(pages.bytes.capacity() <= 4 * PAGE_BYTES, "after a large one and a small one");
    }
}
