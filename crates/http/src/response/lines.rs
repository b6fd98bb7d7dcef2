//! The lines of heads that are always the same.

pub(crate) const OF_VALUES: &str = "Content-Type: application/octet-stream\r\nX-Content-Type-Options: nosniff\r\n\
                         Cache-Control: no-cache\r\nAccept-Ranges: bytes\r\n";
/// Of a value that a browser would show as a page: it is kept, and runs nothing.
pub(crate) const OF_DOCUMENTS: &str = "Content-Type: application/octet-stream\r\nX-Content-Type-Options: nosniff\r\n\
     Cache-Control: no-cache\r\nAccept-Ranges: bytes\r\n\
     Content-Disposition: attachment\r\nContent-Security-Policy: sandbox\r\n";
pub(crate) const OF_JSON: &str = "Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n\
                       Cache-Control: no-store\r\n";
pub(crate) const OF_PROBLEMS: &str = "Content-Type: application/problem+json\r\n\
                           X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
pub(crate) const OF_TEXTS: &str = "Content-Type: text/plain\r\nX-Content-Type-Options: nosniff\r\n\
                        Cache-Control: no-store\r\n";
/// Of events, which proxies are to pass on as they come.
pub(crate) const OF_EVENTS: &str = "Content-Type: text/event-stream; charset=utf-8\r\n\
                         X-Content-Type-Options: nosniff\r\n\
                         Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n";
pub(crate) const OF_NOTHING: &str = "Cache-Control: no-cache\r\n";

/// What the head of a value says beside its length.
pub(crate) fn lines_of(is_document: bool) -> &'static str {
    if is_document { OF_DOCUMENTS } else { OF_VALUES }
}
