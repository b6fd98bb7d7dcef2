//! huststore's interface, item by item of what its clients rely on: through the paths of a node,
//! and through those of its front.

mod cache;
mod call;
mod checklist;
mod crash;
mod export;
mod front;
mod kv;
mod listing;
mod many;
mod push;
mod queue;
mod rows;
mod tables;
mod wire;

use super::{client, start};
use basalt_tests::http::{HttpClient, Response};

/// The side of huststore that is spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Profile {
    Node,
    Front,
}

const PROFILES: [Profile; 2] = [Profile::Node, Profile::Front];

/// A client of one profile.
struct Hust {
    http: HttpClient,
    profile: Profile,
}

impl Hust {
    fn new(http: HttpClient, profile: Profile) -> Hust {
        Hust { http, profile }
    }

    /// The path of a verb of a kind, which a node has under a name of its own.
    fn path(&self, kind: &str, target: &str) -> String {
        match (self.profile, kind) {
            (Profile::Node, kind) => format!("/hust{kind}/{target}"),
            (Profile::Front, "cache") => format!("/cache/{target}"),
            (Profile::Front, _) => format!("/{target}"),
        }
    }

    fn get(&mut self, kind: &str, target: &str) -> Response {
        let line = format!("GET {}", self.path(kind, target));
        self.http.ask(&line, "", b"")
    }

    fn post(&mut self, kind: &str, target: &str, body: &[u8]) -> Response {
        let line = format!("POST {}", self.path(kind, target));
        self.http.ask(&line, "", body)
    }

    fn db(&mut self, target: &str) -> Response {
        self.get("db", target)
    }

    /// The status that a node has; its front has 404 for what has failed.
    fn status(&self, of_node: u16) -> u16 {
        match (self.profile, of_node) {
            (Profile::Node, _) | (_, 200 | 405 | 409) => of_node,
            _ => 404,
        }
    }
}

/// The status and the version of a response.
fn version(response: &Response) -> (u16, Option<u64>) {
    (response.status, response.field("version").map(|version| version.parse().unwrap()))
}

/// Runs a test against each profile, with keys of their own.
fn for_each_profile(test: impl Fn(&mut Hust)) {
    let (_server, address) = start(&[]);
    for profile in PROFILES {
        let mut hust = Hust::new(client(address), profile);
        test(&mut hust);
        // What the other profile finds must not be what this one has left.
        let flushed = hust.http.ask(
            "POST /v1/command",
            "Content-Type: application/json\r\n",
            br#"["FLUSHALL"]"#,
        );
        assert_eq!(flushed.status, 200, "{}", flushed.text());
    }
}
