//! Metrics as text.

use crate::figures::Figures;
use crate::metric::Sink;
use crate::table::GROUPS;
use basalt_observe::exposition::{Exposition, Form, Label};
use basalt_observe::histogram::Distribution;

/// All metrics in one of the texts. `rest` is called after each group, for a thread that is to let
/// others have its CPU.
pub fn text(figures: &Figures<'_>, form: Form, mut rest: impl FnMut()) -> String {
    let mut exposition = Exposition::new(form);
    for group in GROUPS {
        for metric in group.metrics {
            exposition.family(metric.family);
            let mut sink = Labelled { exposition: &mut exposition, names: metric.labels };
            (metric.read)(figures, &mut sink);
        }
        rest();
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
