//! Finished reports for clients that ask for them, and what tells the thread that writes them.
//!
//! ```text
//! METRICS ─▶ latest: young enough ─▶ the text, shared
//!              └─▶ none: ask, park ─▶ report thread: gathers, writes, publishes ─▶ runs again
//! ```
//! A network thread takes a lock for some nanoseconds and gets a finished text; a report is written
//! when somebody asks, at most once a second for each form. A client whose report does not come in
//! time is told so by the thread that samples ([`Reports::give_up`]): none hangs because the thread
//! that writes does.

use crate::error::CommandError;
use crate::wait::Done;
use basalt_env::Instant;
use basalt_observe::exposition::Form;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// So long a report is given out before a new one is written.
pub const VALID_FOR: Duration = Duration::from_secs(1);
/// So long a client waits for one.
pub const WAIT_MAX: Duration = Duration::from_secs(2);

const NO_REPORT: CommandError =
    CommandError::fixed("TRYAGAIN the report is not ready: the thread that writes it is late");

/// See the head of this file.
#[derive(Debug, Default)]
pub struct Reports {
    state: Mutex<State>,
    asked: Condvar,
}

#[derive(Debug, Default)]
struct State {
    prometheus: Slot,
    open_metrics: Slot,
    /// A thread writes reports.
    is_served: bool,
    /// It is to end.
    stops: bool,
}

/// Reports of one form.
#[derive(Default)]
struct Slot {
    latest: Option<(Instant, Arc<Vec<u8>>)>,
    waiting: Vec<(Instant, Done)>,
}

impl fmt::Debug for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Slot").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

impl State {
    fn slot(&mut self, form: Form) -> &mut Slot {
        match form {
            Form::Prometheus => &mut self.prometheus,
            Form::OpenMetrics => &mut self.open_metrics,
        }
    }

    fn wanted(&self) -> Option<Form> {
        let slots = [(Form::Prometheus, &self.prometheus), (Form::OpenMetrics, &self.open_metrics)];
        slots.into_iter().find(|(_, slot)| !slot.waiting.is_empty()).map(|(form, _)| form)
    }
}

impl Reports {
    /// The latest report, if it is young enough.
    pub fn latest(&self, form: Form, now: Instant) -> Option<Arc<Vec<u8>>> {
        let mut state = self.state.lock();
        let (written, text) = state.slot(form).latest.as_ref()?;
        (now.saturating_duration_since(*written) < VALID_FOR).then(|| Arc::clone(text))
    }

    /// Has a report written; `done` is called when it is there, or when it does not come.
    pub fn ask(&self, form: Form, now: Instant, done: Done) {
        let mut state = self.state.lock();
        if !state.is_served {
            drop(state);
            return done(Err(NO_REPORT));
        }
        state.slot(form).waiting.push((now, done));
        self.asked.notify_one();
    }

    /// A thread writes reports from now on.
    pub fn begin(&self) {
        let mut state = self.state.lock();
        (state.is_served, state.stops) = (true, false);
    }

    /// Waits until somebody asks; `None` when the thread is to end. For the thread that writes.
    pub fn next(&self) -> Option<Form> {
        let mut state = self.state.lock();
        loop {
            if state.stops {
                return None;
            }
            if let Some(form) = state.wanted() {
                return Some(form);
            }
            self.asked.wait(&mut state);
        }
    }

    /// A report that was written at this moment.
    pub fn publish(&self, form: Form, now: Instant, text: String) {
        let mut state = self.state.lock();
        let slot = state.slot(form);
        slot.latest = Some((now, Arc::new(text.into_bytes())));
        let waiting = std::mem::take(&mut slot.waiting);
        drop(state);
        waiting.into_iter().for_each(|(_, done)| done(Ok(())));
    }

    /// Tells clients that have waited for too long that there is no report.
    pub fn give_up(&self, now: Instant) {
        let is_late =
            |(asked, _): &mut (Instant, Done)| now.saturating_duration_since(*asked) >= WAIT_MAX;
        refuse(self.state.lock(), is_late);
    }

    /// No thread writes reports any more; the one that does ends.
    pub fn end(&self) {
        let mut state = self.state.lock();
        (state.is_served, state.stops) = (false, true);
        self.asked.notify_all();
        refuse(state, |_| true);
    }
}

/// Tells the clients that `which` is true for that there is no report.
fn refuse(mut state: MutexGuard<'_, State>, which: impl Fn(&mut (Instant, Done)) -> bool) {
    let State { prometheus, open_metrics, .. } = &mut *state;
    let slots = [prometheus, open_metrics];
    let refused: Vec<(Instant, Done)> =
        slots.into_iter().flat_map(|slot| slot.waiting.extract_if(.., &which)).collect();
    drop(state);
    refused.into_iter().for_each(|(_, done)| done(Err(NO_REPORT)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_env::{Clock, ManualClock};
    use std::sync::mpsc::{Receiver, channel};

    fn asks(reports: &Reports, now: Instant) -> Receiver<bool> {
        let (send, receive) = channel();
        let done = move |result: Result<(), CommandError>| send.send(result.is_ok()).unwrap();
        reports.ask(Form::Prometheus, now, Box::new(done));
        receive
    }

    #[test]
    fn a_report_is_written_once_a_second_for_all_that_ask() {
        let (clock, reports) = (ManualClock::default(), Reports::default());
        reports.begin();
        let start = clock.now();
        assert_eq!(reports.latest(Form::Prometheus, start), None);
        let (one, two) = (asks(&reports, start), asks(&reports, start));
        assert_eq!(reports.next(), Some(Form::Prometheus));
        reports.publish(Form::Prometheus, start, "text".to_owned());
        assert_eq!((one.recv(), two.recv()), (Ok(true), Ok(true)));
        clock.advance_ms(999);
        let latest = reports.latest(Form::Prometheus, clock.now());
        assert_eq!(latest.as_deref().map(Vec::as_slice), Some(&b"text"[..]));
        assert_eq!(reports.latest(Form::OpenMetrics, clock.now()), None);
        clock.advance_ms(1);
        assert_eq!(reports.latest(Form::Prometheus, clock.now()), None);
    }

    #[test]
    fn nobody_waits_for_a_report_that_does_not_come() {
        let (clock, reports) = (ManualClock::default(), Reports::default());
        assert_eq!(asks(&reports, clock.now()).recv(), Ok(false), "no thread writes");
        reports.begin();
        let early = asks(&reports, clock.now());
        clock.advance_ms(1_999);
        let late = asks(&reports, clock.now());
        reports.give_up(clock.now());
        assert!(early.try_recv().is_err());
        clock.advance_ms(1);
        reports.give_up(clock.now());
        assert_eq!(early.try_recv(), Ok(false));
        assert!(late.try_recv().is_err());
        reports.end();
        assert_eq!(late.try_recv(), Ok(false));
        assert_eq!(reports.next(), None);
    }
}
