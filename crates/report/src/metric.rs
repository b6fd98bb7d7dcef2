//! What a metric is: a line of the [`table`](crate::table).

use crate::figures::Figures;
use basalt_observe::exposition::{Family, Kind, Unit};
use basalt_observe::histogram::Distribution;

/// A metric, with what reads its series from the figures.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Name, help, kind and unit.
    pub family: Family,
    /// The labels of each series.
    pub labels: &'static [&'static str],
    /// Gives each series to a sink, with the values of its labels in their order.
    pub read: Read,
}

/// See [`Metric::read`].
pub type Read = fn(&Figures<'_>, &mut dyn Sink);

/// Where series go: a text, a console.
pub trait Sink {
    /// A series with one value.
    fn value(&mut self, labels: &[&str], value: f64);

    /// A series that is a histogram.
    fn distribution(&mut self, labels: &[&str], distribution: &Distribution);
}

/// Name, unit, help.
type Words = (&'static str, Unit, &'static str);
type Labels = &'static [&'static str];

/// What only grows.
pub(crate) const fn counter(words: Words, labels: Labels, read: Read) -> Metric {
    metric(Kind::Counter, words, labels, read)
}

/// What comes and goes.
pub(crate) const fn gauge(words: Words, labels: Labels, read: Read) -> Metric {
    metric(Kind::Gauge, words, labels, read)
}

/// Durations.
pub(crate) const fn histogram(words: Words, labels: Labels, read: Read) -> Metric {
    metric(Kind::Histogram, words, labels, read)
}

const fn metric(kind: Kind, (name, unit, help): Words, labels: Labels, read: Read) -> Metric {
    Metric { family: Family { name, help, kind, unit }, labels, read }
}
