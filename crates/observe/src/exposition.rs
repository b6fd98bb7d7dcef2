//! The text in which a monitoring system reads metrics: Prometheus' format 0.0.4, or OpenMetrics
//! 1.0 for those that ask for it.
//!
//! ```text
//! # HELP basalt_keys Keys of a database.
//! # TYPE basalt_keys gauge
//! basalt_keys{db="0"} 17
//! ```
//! The two differ little: OpenMetrics names a family of counters without `_total`, names the unit,
//! and ends with `# EOF`. What is written belongs to the family whose head was written last, so a
//! family is one block; that no series is there twice is the caller's part, and asserted in debug
//! builds.

use crate::histogram::Distribution;
use std::fmt::{self, Display, Write};

/// Which of the two texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Prometheus' text format 0.0.4, which everything reads.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

/// What the values of a family are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// They only grow, but for a restart and `CONFIG RESETSTAT`. The name ends in `_total`.
    Counter,
    /// They come and go.
    Gauge,
    /// Counts of durations by their length.
    Histogram,
}

impl Kind {
    /// As the texts name it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// What a value counts; the name of the family ends with it, before `_total`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Things.
    None,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// As names of families end; empty for things.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Seconds => "seconds",
            Unit::Bytes => "bytes",
        }
    }
}

/// What is said about a family before its series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family {
    /// Its whole name.
    pub name: &'static str,
    /// A sentence for people.
    pub help: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// What they count.
    pub unit: Unit,
}

/// A label and its value.
pub type Label<'a> = (&'a str, &'a str);

/// Histograms are shown with bounds of 2^3 to 2^22 microseconds: 8 µs to 4.2 s.
const POWERS: std::ops::RangeInclusive<usize> = 3..=22;

/// A text that is being written.
#[derive(Debug)]
pub struct Exposition {
    form: Form,
    text: String,
    family: Option<Family>,
    #[cfg(debug_assertions)]
    series: std::collections::HashSet<String>,
}

impl Exposition {
    /// An empty one.
    pub fn new(form: Form) -> Exposition {
        Exposition {
            form,
            text: String::new(),
            family: None,
            #[cfg(debug_assertions)]
            series: Default::default(),
        }
    }

    /// Begins a family.
    pub fn family(&mut self, family: Family) {
        let Family { name, help, kind, unit } = family;
        self.family = Some(family);
        let is_open = self.form == Form::OpenMetrics;
        let shown = if is_open { name.trim_end_matches("_total") } else { name };
        let kind = kind.name();
        self.put(format_args!("# HELP {shown} {}\n# TYPE {shown} {kind}\n", Help(help)));
        if is_open && unit != Unit::None {
            self.put(format_args!("# UNIT {shown} {}\n", unit.name()));
        }
    }

    /// One value of the family that was begun last.
    ///
    /// # Panics
    /// If none was begun.
    pub fn value(&mut self, labels: &[Label<'_>], value: f64) {
        self.sample("", labels, None, value);
    }

    /// A histogram of the family that was begun last.
    ///
    /// # Panics
    /// If none was begun.
    pub fn distribution(&mut self, labels: &[Label<'_>], distribution: &Distribution) {
        for power in POWERS {
            let bound = (1_u64 << power) as f64 / 1e6;
            let count = distribution.shorter_than_power(power);
            self.sample("_bucket", labels, Some(&bound), count as f64);
        }
        let count = distribution.count() as f64;
        self.sample("_bucket", labels, Some(&"+Inf"), count);
        self.sample("_sum", labels, None, distribution.seconds());
        self.sample("_count", labels, None, count);
    }

    /// All of it.
    pub fn finish(mut self) -> String {
        if self.form == Form::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }

    fn sample(
        &mut self,
        suffix: &str,
        labels: &[Label<'_>],
        bound: Option<&dyn Display>,
        value: f64,
    ) {
        let name = self.family.expect("a family was begun").name;
        let start = self.text.len();
        self.put(format_args!("{name}{suffix}"));
        let mut before = '{';
        for (name, value) in labels {
            self.put(format_args!("{before}{name}=\"{}\"", LabelValue(value)));
            before = ',';
        }
        if let Some(bound) = bound {
            self.put(format_args!("{before}le=\"{bound}\""));
            before = ',';
        }
        if before == ',' {
            self.text.push('}');
        }
        #[cfg(debug_assertions)]
        {
            let series = self.text[start..].to_owned();
            assert!(self.series.insert(series), "a series twice: {}", &self.text[start..]);
        }
        let _ = start;
        self.put(format_args!(" {}\n", Number(value)));
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }
}

/// A value as both texts write it.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            number if number.is_nan() => out.write_str("NaN"),
            f64::INFINITY => out.write_str("+Inf"),
            f64::NEG_INFINITY => out.write_str("-Inf"),
            number => write!(out, "{number}"),
        }
    }
}

/// A help text: backslashes and line ends are escaped.
struct Help<'a>(&'a str);

impl Display for Help<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| escape(letter, out))
    }
}

/// A label's value: quotes are escaped, too.
struct LabelValue<'a>(&'a str);

impl Display for LabelValue<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '"' => out.write_str("\\\""),
            letter => escape(letter, out),
        })
    }
}

fn escape(letter: char, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match letter {
        '\\' => out.write_str("\\\\"),
        '\n' => out.write_str("\\n"),
        letter => out.write_char(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;

    const READS: Family = Family {
        name: "x_read_bytes_total",
        help: "What was read,\nwith a \\ and a \".",
        kind: Kind::Counter,
        unit: Unit::Bytes,
    };
    const WAITS: Family = Family {
        name: "x_wait_seconds",
        help: "Waits.",
        kind: Kind::Histogram,
        unit: Unit::Seconds,
    };

    #[test]
    fn both_texts_escape_what_they_must() {
        let write = |form| {
            let mut text = Exposition::new(form);
            text.family(READS);
            text.value(&[], 3.0);
            text.value(&[("file", "a\"b\\c\nd"), ("x", "")], 0.5);
            text.finish()
        };
        let help = "What was read,\\nwith a \\\\ and a \".";
        let series = "x_read_bytes_total 3\n\
                      x_read_bytes_total{file=\"a\\\"b\\\\c\\nd\",x=\"\"} 0.5\n";
        assert_eq!(
            write(Form::Prometheus),
            format!(
                "# HELP x_read_bytes_total {help}\n# TYPE x_read_bytes_total counter\n{series}"
            )
        );
        assert_eq!(
            write(Form::OpenMetrics),
            format!(
                "# HELP x_read_bytes {help}\n# TYPE x_read_bytes counter\n\
                 # UNIT x_read_bytes bytes\n{series}# EOF\n"
            )
        );
    }

    #[test]
    fn histograms_have_bounds_a_sum_and_a_count() {
        let waits = Histogram::default();
        waits.add(7_000, 2);
        waits.add(9_000, 1);
        waits.add(1 << 36, 1);
        let mut text = Exposition::new(Form::Prometheus);
        text.family(WAITS);
        text.distribution(&[("of", "disk")], &waits.distribution());
        let text = text.finish();
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines.len(), 20 + 3);
        assert_eq!(lines[0], "x_wait_seconds_bucket{of=\"disk\",le=\"0.000008\"} 2");
        assert_eq!(lines[1], "x_wait_seconds_bucket{of=\"disk\",le=\"0.000016\"} 3");
        assert_eq!(lines[19], "x_wait_seconds_bucket{of=\"disk\",le=\"4.194304\"} 3");
        assert_eq!(lines[20], "x_wait_seconds_bucket{of=\"disk\",le=\"+Inf\"} 4");
        assert_eq!(lines[21], "x_wait_seconds_sum{of=\"disk\"} 68.719499736");
        assert_eq!(lines[22], "x_wait_seconds_count{of=\"disk\"} 4");
    }

    #[test]
    fn numbers_that_are_none_have_names() {
        let shown =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e15].map(|n| Number(n).to_string());
        assert_eq!(shown, ["NaN", "+Inf", "-Inf", "1000000000000000"]);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "a series twice")]
    fn a_series_is_there_once() {
        let mut text = Exposition::new(Form::Prometheus);
        text.family(READS);
        text.value(&[("a", "b")], 1.0);
        text.value(&[("a", "b")], 2.0);
    }
}
