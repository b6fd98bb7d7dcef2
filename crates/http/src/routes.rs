//! Finds what answers a request in the table of paths.

use crate::general::GENERAL;
use crate::operation::{Asks, Operation, Route, Run, Segment};
use crate::problem::Problem;
use crate::query::Query;
use crate::table::{KEY, ROUTES};
use basalt_http1::target::segments;
use basalt_http1::{Method, Status};
use std::ops::Range;

/// Where a path leads, as ranges of it.
pub(crate) struct Found {
    pub(crate) route: &'static Route,
    /// Where the key is in the path, as it came; `None` if it is a parameter.
    pub(crate) key: Option<Range<usize>>,
    /// Where the name within the key's value is, as it came.
    pub(crate) name: Option<Range<usize>>,
    /// Where the name within what that names is, as it came.
    pub(crate) within: Option<Range<usize>>,
}

/// Finds what a path is.
///
/// # Errors
/// It is nothing.
#[inline]
pub(crate) fn find(path: &[u8], query: &Query<'_>) -> Result<Found, Problem> {
    if !query.is_empty() && query.find(KEY.name).is_some() {
        return find_beside_key(path).ok_or_else(nothing);
    }
    let found = ROUTES.iter().find_map(|route| matches(route, route.path, path));
    found.ok_or_else(|| match find_beside_key(path) {
        Some(_) => Problem::bad_request("name a key: behind a slash, or as ?key="),
        None => nothing(),
    })
}

/// A path whose key is a parameter: some proxies do not pass on a slash that is encoded.
fn find_beside_key(path: &[u8]) -> Option<Found> {
    ROUTES.iter().find_map(|route| {
        let (last, before) = route.path.split_last()?;
        (*last == Segment::Key).then(|| matches(route, before, path)).flatten()
    })
}

fn nothing() -> Problem {
    Problem::new(Status::NotFound, "NOPATH", "there is nothing under this path")
}

/// Whether a path is one of a route.
fn matches(route: &'static Route, segments_of: &[Segment], path: &[u8]) -> Option<Found> {
    let mut parts = segments(path);
    let mut found = Found { route, key: None, name: None, within: None };
    for segment in segments_of {
        let part = parts.next()?;
        match segment {
            Segment::Text(text) if text.as_bytes() == &path[part.clone()] => {}
            Segment::Text(_) => return None,
            Segment::Key => found.key = Some(part),
            Segment::Name(_) => found.name = Some(part),
            Segment::Within(_) => found.within = Some(part),
        }
    }
    parts.next().is_none().then_some(found)
}

impl Route {
    /// What a method means here.
    ///
    /// # Errors
    /// Nothing, or a parameter of the query is not known.
    #[inline]
    pub(crate) fn operation(
        &self,
        (method, asks): (Method, Asks),
        query: &Query<'_>,
    ) -> Result<&'static Operation, Problem> {
        let wanted = if method == Method::Head { Method::Get } else { method };
        let with_method =
            self.operations.iter().filter(move |operation| operation.method == wanted);
        // Where there are no events, the wish for them is passed over.
        let has = |asks| with_method.clone().any(|operation| operation.asks() == asks);
        let asks = if asks == Asks::Response || has(asks) { asks } else { Asks::Response };
        let mut all = with_method.clone().filter(move |operation| operation.asks() == asks);
        let Some(first) = all.clone().next() else {
            return Err(match with_method.clone().next() {
                None => self.no_such_method(),
                Some(_) => Problem::bad_request("ask for events: Accept: text/event-stream"),
            });
        };
        let found = match first.when {
            None if query.is_empty() => return Ok(first),
            _ => all.find(|operation| operation.is_meant(query)),
        };
        let found = found.ok_or_else(|| self.undecided(wanted))?;
        found.demand_known(query)?;
        Ok(found)
    }

    fn no_such_method(&self) -> Problem {
        let allow = self.allow();
        let text = format!("the path takes {allow}");
        let problem = Problem::new(Status::MethodNotAllowed, "BADMETHOD", text);
        Problem { allow: Some(allow), ..problem }
    }

    fn undecided(&self, method: Method) -> Problem {
        let ways = self.operations.iter().filter(|operation| operation.method == method);
        let ways: Vec<String> = ways
            .filter_map(|operation| operation.when)
            .map(|(name, value)| format!("?{name}={value}"))
            .collect();
        Problem::bad_request(format!("say what is to be done: {}", ways.join(" or ")))
    }

    /// The methods that it takes, as `Allow` says them.
    pub(crate) fn allow(&self) -> String {
        let mut names = Vec::new();
        for operation in self.operations {
            let own = match operation.method {
                Method::Get => &["GET", "HEAD"][..],
                Method::Post => &["POST"],
                Method::Put => &["PUT"],
                Method::Delete => &["DELETE"],
                Method::Patch => &["PATCH"],
                Method::Head | Method::Options => &[],
            };
            for name in own {
                if !names.contains(name) {
                    names.push(*name);
                }
            }
        }
        names.push("OPTIONS");
        names.join(", ")
    }
}

impl Operation {
    /// Whether a query asks for this one among those with its method.
    fn is_meant(&self, query: &Query<'_>) -> bool {
        let Some((name, value)) = self.when else {
            // Verbs are never passed over.
            return query.find("op").is_none();
        };
        query.text(name).is_ok_and(|given| given.as_deref() == Some(value))
    }

    /// Refuses parameters that it does not know: a mistyped one must not be passed over.
    fn demand_known(&self, query: &Query<'_>) -> Result<(), Problem> {
        query.demand(|name| {
            let is = |known: &str| known.as_bytes() == name;
            self.parameters.iter().any(|parameter| is(parameter.name))
                || self.when.is_some_and(|(name, _)| is(name))
                || self.is_on_data() && (GENERAL.iter().any(|name| is(name)) || is(KEY.name))
                || matches!(self.run, Run::Any | Run::Batch) && is("db")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(target: &str) -> Result<Found, Problem> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        find(path.as_bytes(), &Query::new(query.as_bytes()))
    }

    #[test]
    fn paths_lead_to_one_route_or_to_none() {
        let found = route("/v1/strings/a%2Fb").unwrap();
        assert_eq!((found.key, found.name), (Some(12..17), None));
        assert_eq!(route("/v1/strings/").unwrap().key, Some(12..12));
        assert_eq!(route("/v1/strings?key=a").unwrap().key, None);
        let found = route("/v1/hashes/k/f").unwrap();
        assert_eq!((found.key, found.name), (Some(11..12), Some(13..14)));
        assert_eq!(route("/v1/keys").unwrap().route.path.len(), 2);
        assert_eq!(route("/v1/keys?key=").unwrap().route.path.len(), 3);
        assert_eq!(route("/v1/strings").err().map(|it| it.status), Some(Status::BadRequest));
        for path in ["/", "", "/v1", "/v1/strings/a/b", "/V1/strings/a", "/v1//strings/a", "/v2"] {
            assert_eq!(route(path).err().map(|it| it.status), Some(Status::NotFound), "{path}");
        }
    }

    #[test]
    fn methods_and_verbs_lead_to_one_operation() {
        let operation = |target: &str, method| {
            let query = target.split_once('?').map_or("", |(_, query)| query);
            let found = route(target).unwrap();
            found
                .route
                .operation((method, Asks::Response), &Query::new(query.as_bytes()))
                .map(|it| it.when)
        };
        let pop = Some(("op", "pop"));
        assert_eq!(operation("/v1/lists/k?op=pop&wait=1", Method::Post), Ok(pop));
        assert_eq!(operation("/v1/lists/k", Method::Post), Ok(None));
        assert_eq!(operation("/v1/lists/k", Method::Head), Ok(None));
        for (target, method) in [
            ("/v1/lists/k?op=pup", Method::Post),
            ("/v1/lists/k?op=pop&wiat=1", Method::Post),
            ("/v1/lists/k?start=1&start=1", Method::Get),
            ("/v1/strings/k", Method::Post),
            ("/health/live?x=1", Method::Get),
        ] {
            let problem = operation(target, method).unwrap_err();
            assert_eq!(problem.status, Status::BadRequest, "{target}");
        }
        let problem = operation("/v1/command", Method::Get).unwrap_err();
        assert_eq!(problem.status, Status::MethodNotAllowed);
        assert_eq!(problem.allow.as_deref(), Some("POST, OPTIONS"));
    }
}
