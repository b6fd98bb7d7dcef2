//! Finds the verb that a request asks for. Its paths are looked at when no path under `/v1` has
//! been found.

use super::answer::Answered;
use super::table::{CACHE, DATABASE, FRONT, FRONT_QUEUES, QUEUES};
use super::talk::Profile;
use super::verb::{Methods, Verb};
use crate::guard;
use crate::identity::Identity;
use crate::problem::Problem;
use basalt_config::HttpSettings;
use basalt_http1::target::{parameters, segments};
use basalt_http1::{Field, Head, Method, Status};

/// What the health probe of huststore's front is answered.
const HEALTHY: &str = "/status.html";

/// A request of huststore's interface.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    /// Whether the process answers, which needs no user.
    Status,
    Verb {
        verb: &'static Verb,
        profile: Profile,
    },
}

/// By which port a client has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Port {
    /// That of HTTP.
    Http,
    /// That of huststore's queues.
    Queues,
}

/// Finds what a request asks for by its path; `None` if that is none of the interface. `bytes`
/// begins with its head.
pub(crate) fn find(
    (head, bytes): (&Head, &[u8]),
    port: Port,
    settings: &HttpSettings,
) -> Option<Asked> {
    find_by((&bytes[head.path()], &bytes[head.query()]), port, settings)
}

/// Finds what a path and a query ask for. A verb at the root that names a queue is one of the
/// queues.
fn find_by((path, query): (&[u8], &[u8]), port: Port, settings: &HttpSettings) -> Option<Asked> {
    if !settings.hust.is_on {
        return None;
    }
    if path == HEALTHY.as_bytes() {
        return Some(Asked::Status);
    }
    let mut parts = segments(path).map(|part| &path[part]);
    let (first, second) = (parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let (tables, name, profile) = match (first, second) {
        (b"hustdb", Some(name)) => (&[DATABASE][..], name, Profile::Node),
        (b"hustcache", Some(name)) => (&[CACHE][..], name, Profile::Node),
        (b"hustmq", Some(name)) => (&[QUEUES][..], name, Profile::Node),
        (b"cache", Some(name)) => (&[CACHE][..], name, Profile::Front),
        (name, None) if port == Port::Queues || names_queue(query) => {
            (&[FRONT_QUEUES, QUEUES, DATABASE, FRONT][..], name, Profile::Front)
        }
        (name, None) => (&[DATABASE, FRONT, FRONT_QUEUES, QUEUES][..], name, Profile::Front),
        _ => return None,
    };
    let verb = tables.iter().copied().flatten().find(|verb| verb.name.as_bytes() == name)?;
    Some(Asked::Verb { verb, profile })
}

fn names_queue(query: &[u8]) -> bool {
    parameters(query).any(|parameter| &query[parameter.name] == b"queue")
}

impl Verb {
    fn methods(&self, profile: Profile) -> Methods {
        match profile {
            Profile::Node => self.node,
            Profile::Front => self.front,
        }
    }

    /// Refuses a method that the verb does not take; `None` if it does.
    pub(crate) fn refuse(&self, method: Method, profile: Profile) -> Option<Answered> {
        let methods = self.methods(profile);
        if methods.take(method) {
            return None;
        }
        let text = format!("BADMETHOD the path takes {}", methods.allow());
        let mut refused = Answered::failed(Status::MethodNotAllowed, text);
        refused.fields.push(("Allow", methods.allow().to_owned()));
        Some(refused)
    }

    /// Refuses a change that a page may have had a browser send. The verbs change data by GET, for
    /// which a browser names no origin; one that does not say either from which site the page is
    /// (to addresses without TLS it does not) can be had to name no page either.
    ///
    /// # Errors
    /// See the head of `guard.rs`.
    pub(crate) fn admit(
        &self,
        head: &Head,
        bytes: &[u8],
        identity: Identity,
        settings: &HttpSettings,
    ) -> Result<(), Problem> {
        guard::admit(head, bytes, identity, settings)?;
        let is = |field, start: &[u8]| {
            head.field(field).is_some_and(|range| bytes[range].starts_with(start))
        };
        let says_where_from = [Field::SecFetchSite, Field::Origin, Field::Referer]
            .iter()
            .any(|&field| head.field(field).is_some());
        let is_browser = is(Field::UserAgent, b"Mozilla/");
        if self.is_write && identity == Identity::Anybody && is_browser && !says_where_from {
            let text = "a browser that does not say from which page it asks may change nothing";
            return Err(Problem::new(Status::Forbidden, "CROSSSITE", text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_config::Config;

    fn found(target: &str) -> Option<(&'static str, Profile)> {
        found_by(Port::Http, target)
    }

    /// Whether a verb is one of the queues.
    fn is_of_queues(port: Port, target: &str) -> bool {
        let settings = Config::default().settings();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let Some(Asked::Verb { verb, .. }) =
            find_by((path.as_bytes(), query.as_bytes()), port, &settings.http)
        else {
            return false;
        };
        FRONT_QUEUES.iter().chain(QUEUES).any(|of_queues| std::ptr::eq(of_queues, verb))
    }

    fn found_by(port: Port, target: &str) -> Option<(&'static str, Profile)> {
        let settings = Config::default().settings();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match find_by((path.as_bytes(), query.as_bytes()), port, &settings.http)? {
            Asked::Verb { verb, profile } => Some((verb.name, profile)),
            Asked::Status => Some(("status", Profile::Front)),
        }
    }

    #[test]
    fn verbs_at_the_root_are_of_the_queues_if_they_name_one() {
        for (target, by_http, by_queues) in [
            ("/put?key=k", false, true),
            ("/put?queue=q", true, true),
            ("/get?key=k&queue=", true, true),
            ("/get?key=queue", false, true),
            ("/stat?tb=t", false, true),
            ("/stat_all", false, true),
            ("/ack", true, true),
            ("/autost", true, true),
            ("/del?key=k", false, false),
            ("/hustdb/put?queue=q", false, false),
            ("/hustmq/put", true, true),
        ] {
            assert_eq!(is_of_queues(Port::Http, target), by_http, "{target}");
            assert_eq!(is_of_queues(Port::Queues, target), by_queues, "{target}");
        }
    }

    #[test]
    fn paths_lead_to_verbs() {
        assert_eq!(found("/hustdb/put"), Some(("put", Profile::Node)));
        assert_eq!(found("/put"), Some(("put", Profile::Front)));
        assert_eq!(found("/hustcache/ttl"), Some(("ttl", Profile::Node)));
        assert_eq!(found("/hustmq/ack"), Some(("ack", Profile::Node)));
        assert_eq!(found("/cache/ttl"), Some(("ttl", Profile::Front)));
        assert_eq!(found("/get2"), Some(("get2", Profile::Front)));
        assert_eq!(found("/hustdb/get2"), None);
        assert_eq!(found("/ack"), Some(("ack", Profile::Front)));
        assert_eq!(found("/status.html"), Some(("status", Profile::Front)));
        for nothing in
            ["/", "/hustdb", "/hustdb/", "/hustdb/put/", "/hustmq", "/hustdb/PUT", "/putt", "/v1"]
        {
            assert_eq!(found(nothing), None, "{nothing}");
        }
    }
}
