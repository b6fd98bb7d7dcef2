//! How long a client may take with a request. It is looked at once a second, so no request has a
//! timer.

use basalt_config::HttpSettings;
use basalt_env::Instant;
use std::time::Duration;

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
    /// Since when its body is awaited.
    body_since: Option<Instant>,
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
            self.watched = Some(Watched { request, since: now, body_since: None });
        }
        let Some(watched) = &mut self.watched else { return false };
        let Some(body_bytes) = body_bytes else {
            return now - watched.since > settings.head_time_max;
        };
        let elapsed = now - *watched.body_since.get_or_insert(now);
        let least = elapsed.as_secs().saturating_mul(settings.body_rate_min);
        elapsed > settings.head_time_max.max(Duration::from_secs(1)) && body_bytes < least
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
}
