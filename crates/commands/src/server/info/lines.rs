//! The form of INFO's text.

use std::fmt::{Display, Write};

/// Text that is being written.
#[derive(Default)]
pub(super) struct Lines(String);

impl Lines {
    /// Begins a section.
    pub(super) fn title(&mut self, title: &str) {
        let gap = if self.0.is_empty() { "" } else { "\r\n" };
        // Writing to a string cannot fail, here and below.
        let _ = write!(self.0, "{gap}# {title}\r\n");
    }

    /// One line.
    pub(super) fn put(&mut self, name: impl Display, value: impl Display) {
        let _ = write!(self.0, "{name}:{value}\r\n");
    }

    /// Lines that all have the same value: for what does not exist here and is expected.
    pub(super) fn put_all(&mut self, names: &[&str], value: impl Display) {
        names.iter().for_each(|name| self.put(name, &value));
    }

    /// A number of bytes, and in a second line the same for people.
    pub(super) fn put_bytes(&mut self, name: &str, bytes: u64) {
        self.put(name, bytes);
        self.put(format_args!("{name}_human"), human(bytes));
    }

    /// All of it.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// `512B`, `1.50K`, `23.54G`, as Redis writes it.
fn human(bytes: u64) -> String {
    let units = [(1u64 << 50, 'P'), (1 << 40, 'T'), (1 << 30, 'G'), (1 << 20, 'M'), (1 << 10, 'K')];
    match units.into_iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{:.2}{unit}", bytes as f64 / size as f64),
        None => format!("{bytes}B"),
    }
}

/// One number over another, 0 if that cannot be.
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn sizes_are_written_as_redis_writes_them() {
        for (bytes, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.00K"),
            (1_139_352, "1.09M"),
            (25_276_514_304, "23.54G"),
        ] {
            assert_eq!(human(bytes), text);
        }
    }
}
