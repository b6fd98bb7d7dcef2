//! Finds the verb that a request asks for. Its paths are looked at when no path under `/v1` has
//! been found.

use super::table::{CACHE, DATABASE, FRONT, QUEUES};
use super::talk::Profile;
use super::verb::{Methods, Verb};
use crate::guard;
use crate::identity::Identity;
use crate::problem::Problem;
use basalt_config::HttpSettings;
use basalt_http1::target::segments;
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

/// Finds what a path is; `None` if it is none of the interface.
pub(crate) fn find(path: &[u8], settings: &HttpSettings) -> Option<Asked> {
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
    let (table, name, profile) = match (first, second) {
        (b"hustdb", Some(name)) => (DATABASE, name, Profile::Node),
        (b"hustcache", Some(name)) => (CACHE, name, Profile::Node),
        (b"hustmq", Some(name)) => (QUEUES, name, Profile::Node),
        (b"cache", Some(name)) => (CACHE, name, Profile::Front),
        (name, None) => (DATABASE, name, Profile::Front),
        _ => return None,
    };
    let of_front: &[Verb] = if second.is_none() { FRONT } else { &[] };
    let verb = table.iter().chain(of_front).find(|verb| verb.name.as_bytes() == name)?;
    Some(Asked::Verb { verb, profile })
}

impl Verb {
    fn methods(&self, profile: Profile) -> Methods {
        match profile {
            Profile::Node => self.node,
            Profile::Front => self.front,
        }
    }

    /// Refuses a method that the verb does not take.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn demand(&self, method: Method, profile: Profile) -> Result<(), Problem> {
        let methods = self.methods(profile);
        if methods.take(method) {
            return Ok(());
        }
        let text = format!("the path takes {}", methods.allow());
        let problem = Problem::new(Status::MethodNotAllowed, "BADMETHOD", text);
        Err(Problem { allow: Some(methods.allow().to_owned()), ..problem })
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
        let settings = Config::default().settings();
        match find(target.as_bytes(), &settings.http)? {
            Asked::Verb { verb, profile } => Some((verb.name, profile)),
            Asked::Status => Some(("status", Profile::Front)),
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
        assert_eq!(found("/status.html"), Some(("status", Profile::Front)));
        for nothing in [
            "/",
            "/hustdb",
            "/hustdb/",
            "/hustdb/put/",
            "/hustmq",
            "/ack",
            "/hustdb/PUT",
            "/putt",
            "/v1",
        ] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
    }
}
