//! Metrics as text.

use crate::figures::Figures;
use crate::metric::Sink;
use crate::table::metrics;
use basalt_observe::exposition::{Exposition, Form, Label};
use basalt_observe::histogram::Distribution;

/// All metrics in one of the texts.
pub fn text(figures: &Figures<'_>, form: Form) -> String {
    let mut exposition = Exposition::new(form);
    for metric in metrics() {
        exposition.family(metric.family);
        let mut sink = Labelled { exposition: &mut exposition, names: metric.labels };
        (metric.read)(figures, &mut sink);
    }
    exposition.finish()
}

/// A text that is given the values of labels, and knows their names.
struct Labelled<'a> {
    exposition: &'a mut Exposition,
    names: &'static [&'static str],
}

impl Labelled<'_> {
    fn named<'b>(&self, values: &[&'b str]) -> Vec<Label<'b>> {
        debug_assert_eq!(values.len(), self.names.len(), "{:?}: {values:?}", self.names);
        self.names.iter().copied().zip(values.iter().copied()).collect()
    }
}

impl Sink for Labelled<'_> {
    fn value(&mut self, labels: &[&str], value: f64) {
        self.exposition.value(&self.named(labels), value);
    }

    fn distribution(&mut self, labels: &[&str], distribution: &Distribution) {
        self.exposition.distribution(&self.named(labels), distribution);
    }
}
