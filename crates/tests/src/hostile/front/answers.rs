//! What attackers are answered.

use crate::http::{HttpClient, Response};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often which answer has come. Nothing depends on the order in which attackers note them.
#[derive(Debug, Default)]
pub(super) struct Answers(Mutex<BTreeMap<Answer, usize>>);

/// What has become of a request.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Answer {
    Status(u16),
    /// The connection has ended without a word.
    End,
    /// Neither.
    Silence,
    /// A response that must not be, in words.
    Wrong(String),
}

impl Answers {
    pub(super) fn note(&self, answer: Answer) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(answer).or_default() += 1;
    }

    /// Notes the next response to a client; returns true if the connection goes on.
    pub(super) fn note_next(&self, client: &mut HttpClient) -> bool {
        let (answer, goes_on) = match client.response() {
            Ok(response) => {
                let goes_on = response.field("connection") != Some("close");
                (of(&response), goes_on)
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => (Answer::Silence, false),
                ErrorKind::Other => (Answer::Wrong(error.to_string()), false),
                _ => (Answer::End, false),
            },
        };
        self.note(answer);
        goes_on
    }

    /// Notes the next response to a client, if it is there by now.
    pub(super) fn note_if_there(&self, client: &mut HttpClient) {
        const SOON: Duration = Duration::from_millis(20);
        if client.set_patience(SOON).is_ok()
            && let Ok(response) = client.response()
        {
            self.note(of(&response));
        }
    }

    /// Whether nothing has been noted yet.
    pub(super) fn are_none(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// What is neither one of these statuses nor the end, in words.
    pub(super) fn wrong(&self, statuses: &[u16]) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_empty() {
            return vec!["nobody was answered".to_owned()];
        }
        let is_wrong = |answer: &Answer| match answer {
            Answer::Status(status) => !statuses.contains(status),
            Answer::End => false,
            Answer::Silence | Answer::Wrong(_) => true,
        };
        let wrong = all.iter().filter(|(answer, _)| is_wrong(answer));
        wrong.map(|(answer, count)| format!("answered {count} times: {answer:?}")).collect()
    }

    /// The kinds of answers, for a cell of a table.
    pub(super) fn shown(&self) -> String {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = all.keys().map(|answer| match answer {
            Answer::Status(status) => status.to_string(),
            Answer::End => "end".to_owned(),
            Answer::Silence => "silence".to_owned(),
            Answer::Wrong(what) => what.clone(),
        });
        shown.collect::<Vec<String>>().join(", ")
    }
}

/// The status, if the response is a clear one: an error says what it is.
fn of(response: &Response) -> Answer {
    let is_clear = response.status < 400
        || response.field("content-type") == Some("application/problem+json")
            && response.text().contains("\"code\":");
    match is_clear {
        true => Answer::Status(response.status),
        false => Answer::Wrong(format!("{} without a problem", response.status)),
    }
}
