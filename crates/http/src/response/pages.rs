//! Responses that a page of another origin may read, where that origin is listed
//! (`http-cors-origins`).

use super::Response;
use super::lines::OF_NOTHING;
use basalt_http1::{Status, Value};

/// Fields that a page with a listed origin may send, and see.
const SENT_BY_PAGES: &[u8] =
    b"Authorization, Content-Type, Durable, If-Match, If-None-Match, If-Range, Last-Event-ID, \
      Range, X-Basalt";
const SHOWN_TO_PAGES: &[u8] =
    b"Accept-Ranges, Allow, Basalt-Ttl-Ms, Content-Range, ETag, Location, Retry-After";
/// How long a browser need not ask again what they may send.
const PREFLIGHT_SECONDS: u64 = 600;

impl Response<'_> {
    /// The head has fields for a page of another origin, and is longer than its room.
    #[inline]
    pub(crate) fn is_for_page(&self) -> bool {
        self.ending.origin.is_some()
    }

    /// What a browser must be told so that it shows the response to the page that has asked.
    pub(crate) fn for_page<'b>(&self) -> Vec<(&'static str, Value<'b>)>
    where
        Self: 'b,
    {
        let origins = self.circumstances.origins;
        let origin = self.ending.origin.and_then(|at| origins.get(usize::from(at)));
        origin.map_or_else(Vec::new, |origin| {
            vec![
                ("Access-Control-Allow-Origin", Value::Text(origin.as_bytes())),
                ("Access-Control-Expose-Headers", Value::Text(SHOWN_TO_PAGES)),
                ("Vary", Value::Text(b"Origin")),
            ]
        })
    }

    /// What a page may send: the methods of the target.
    pub(crate) fn preflight(&mut self, methods: &str) {
        let fields = [
            ("Access-Control-Allow-Methods", Value::Text(methods.as_bytes())),
            ("Access-Control-Allow-Headers", Value::Text(SENT_BY_PAGES)),
            ("Access-Control-Max-Age", Value::Number(PREFLIGHT_SECONDS)),
        ];
        self.write_head(Status::NoContent, OF_NOTHING, &fields, None);
    }
}
