//! The table of paths.

use crate::problem::Problem;
use basalt_http1::target::segments;
use basalt_http1::{Method, Status};
use std::ops::Range;

/// What answers a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Endpoint {
    /// A string, by `strings.rs`.
    String,
    /// Any command, by `command.rs`.
    Command,
    /// Whether the process answers, by `health.rs`.
    Live,
    /// Whether it takes requests, by `health.rs`.
    Ready,
}

/// A line of the table.
struct Route {
    path: &'static [Segment],
    endpoint: Endpoint,
    /// The methods that it has, as `Allow` says it.
    allow: &'static str,
}

/// A part of a path.
enum Segment {
    Text(&'static str),
    /// Any bytes, percent-encoded.
    Key,
}

use Segment::{Key, Text};

const OF_STRINGS: &str = "GET, HEAD, PUT, DELETE, PATCH, POST, OPTIONS";
const OF_HEALTH: &str = "GET, HEAD, OPTIONS";

const ROUTES: &[Route] = &[
    Route {
        path: &[Text("v1"), Text("strings"), Key],
        endpoint: Endpoint::String,
        allow: OF_STRINGS,
    },
    // With the key as a parameter: some proxies do not pass on a slash that is encoded.
    Route { path: &[Text("v1"), Text("strings")], endpoint: Endpoint::String, allow: OF_STRINGS },
    Route {
        path: &[Text("v1"), Text("command")],
        endpoint: Endpoint::Command,
        allow: "POST, OPTIONS",
    },
    Route { path: &[Text("health"), Text("live")], endpoint: Endpoint::Live, allow: OF_HEALTH },
    Route { path: &[Text("health"), Text("ready")], endpoint: Endpoint::Ready, allow: OF_HEALTH },
];

/// Where a request leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) endpoint: Endpoint,
    /// The methods that it has.
    pub(crate) allow: &'static str,
    /// Where the key is in the path, as it came.
    pub(crate) key: Option<Range<usize>>,
}

/// Finds what answers a path.
///
/// # Errors
/// Nothing does, or not to this method.
pub(crate) fn find(path: &[u8], method: Method) -> Result<Found, Problem> {
    let found = ROUTES.iter().find_map(|route| {
        let key = matches(route.path, path)?;
        Some(Found { endpoint: route.endpoint, allow: route.allow, key })
    });
    let found = found.ok_or_else(|| {
        Problem::new(Status::NotFound, "NOPATH", "there is nothing under this path")
    })?;
    if !found.allow.split(", ").any(|name| name == name_of(method)) {
        let text = format!("the path takes {}", found.allow);
        let problem = Problem::new(Status::MethodNotAllowed, "BADMETHOD", text);
        return Err(Problem { allow: Some(found.allow), ..problem });
    }
    Ok(found)
}

/// Whether a path is one of a route; returns where its key is, if it has one.
fn matches(route: &[Segment], path: &[u8]) -> Option<Option<Range<usize>>> {
    let mut parts = segments(path);
    let mut key = None;
    for segment in route {
        let part = parts.next()?;
        match segment {
            Text(text) if text.as_bytes() == &path[part.clone()] => {}
            Text(_) => return None,
            Key => key = Some(part),
        }
    }
    parts.next().is_none().then_some(key)
}

fn name_of(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Patch => "PATCH",
        Method::Options => "OPTIONS",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_one_endpoint_or_to_none() {
        let found = find(b"/v1/strings/a%2Fb", Method::Get).unwrap();
        assert_eq!((found.endpoint, found.key), (Endpoint::String, Some(12..17)));
        let found = find(b"/v1/strings/", Method::Put).unwrap();
        assert_eq!((found.endpoint, found.key), (Endpoint::String, Some(12..12)));
        assert_eq!(find(b"/v1/strings", Method::Get).unwrap().key, None);
        assert_eq!(find(b"/health/live", Method::Head).unwrap().endpoint, Endpoint::Live);
        for path in ["/", "", "/v1", "/v1/strings/a/b", "/V1/strings/a", "/v1//strings/a", "/v2"] {
            let problem = find(path.as_bytes(), Method::Get).unwrap_err();
            assert_eq!(problem.status, Status::NotFound, "{path}");
        }
        let problem = find(b"/v1/command", Method::Get).unwrap_err();
        assert_eq!(
            (problem.status, problem.allow),
            (Status::MethodNotAllowed, Some("POST, OPTIONS"))
        );
    }
}
