//! How long a client may take with a request. It is looked at once a second, so no request has a
//! timer.

use basalt_config::HttpSettings;
use basalt_env::Instant;
use std::time::Duration;

/// A body must have come with its least rate in each of these spaces of time, too: else one of
/// which most came at once could take its memory for hours with the rest.
const RATE_WINDOW: Duration = Duration::from_secs(60);

/// A request that is being sent.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    watched: Option<Watched>,
}

#[derive(Debug)]
struct Watched {
    /// The number of the request.
    request: u64,
    since: Instant,
    /// Its body, if that is awaited.
    body: Option<Body>,
}

#[derive(Debug)]
struct Body {
    since: Instant,
    window: Window,
}

#[derive(Debug)]
struct Window {
    since: Instant,
    /// How many bytes of the body there were then.
    bytes: u64,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// The number of the request.
    pub(crate) request: u64,
    /// How many bytes of its body are there, if its head is.
    pub(crate) body_bytes: Option<u64>,
}

impl Patience {
    /// Whether the request that is being sent takes too long; `None` is sent if there is none.
    pub(crate) fn is_over(
        &mut self,
        now: Instant,
        progress: Option<Progress>,
        settings: &HttpSettings,
    ) -> bool {
        let Some(Progress { request, body_bytes }) = progress else {
            self.watched = None;
            return false;
        };
        if self.watched.as_ref().is_none_or(|watched| watched.request != request) {
            self.watched = Some(Watched { request, since: now, body: None });
        }
        let Some(watched) = &mut self.watched else { return false };
        let Some(body_bytes) = body_bytes else {
            return now - watched.since > settings.head_time_max;
        };
        let body = watched.body.get_or_insert_with(|| Body::begin(now, body_bytes));
        body.is_too_slow(now, body_bytes, settings)
    }
}

impl Body {
    fn begin(now: Instant, bytes: u64) -> Body {
        Body { since: now, window: Window { since: now, bytes } }
    }

    fn is_too_slow(&mut self, now: Instant, bytes: u64, settings: &HttpSettings) -> bool {
        let least = |time: Duration| time.as_secs().saturating_mul(settings.body_rate_min);
        let elapsed = now - self.since;
        if elapsed > settings.head_time_max.max(Duration::from_secs(1)) && bytes < least(elapsed) {
            return true;
        }
        let elapsed = now - self.window.since;
        if elapsed < RATE_WINDOW {
            return false;
        }
        let came = bytes.saturating_sub(self.window.bytes);
        self.window = Window { since: now, bytes };
        came < least(elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_config::Config;
    use basalt_env::{Clock, ManualClock};

    #[test]
    fn heads_have_their_time_and_bodies_their_rate() {
        let settings = Config::default().settings().http.clone();
        let clock = ManualClock::at_unix_ms(0);
        let mut patience = Patience::default();
        let mut look = |seconds: u64, request, body_bytes| {
            clock.advance_ms(seconds * 1000);
            patience.is_over(clock.now(), Some(Progress { request, body_bytes }), &settings)
        };
        assert!(!look(0, 1, None));
        assert!(!look(10, 1, None));
        assert!(!look(0, 2, None), "another request");
        assert!(!look(9, 2, Some(0)), "its body begins now");
        assert!(!look(10, 2, Some(0)), "as slowly as it likes");
        assert!(!look(1, 2, Some(11 * 1024)));
        assert!(look(1, 2, Some(11 * 1024)));
        assert!(!look(1, 3, None));
        assert!(look(11, 3, None));
    }
    #[test]
    fn a_body_of_which_most_came_at_once_may_not_take_hours_for_the_rest() {
        let settings = Config::default().settings().http.clone();
        let clock = ManualClock::at_unix_ms(0);
        let mut patience = Patience::default();
        let mut look = |seconds: u64, bytes| {
            clock.advance_ms(seconds * 1000);
            let progress = Progress { request: 1, body_bytes: Some(bytes) };
            patience.is_over(clock.now(), Some(progress), &settings)
        };
        let most = 30 << 20;
        assert!(!look(0, 0));
        assert!(!look(59, most), "within the first minute");
        assert!(!look(1, most), "which had enough");
        assert!(!look(59, most + 60), "nor is the second one over");
        assert!(!look(1, most + (60 << 10)), "and had enough");
        assert!(!look(59, most + (60 << 10) + 59));
        assert!(look(1, most + (60 << 10) + 60), "the third had not");
    }
}
