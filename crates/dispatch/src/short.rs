//! HOT PATH
//! A row of commands that a look at one key, or overwriting its string, is enough for.
//!
//! Whether replies wait for the log does not matter: a look at a key that has an unacknowledged
//! change, and a change, take their ticket along.

use super::alike::Alike;
use super::keys::key_session;
use super::outcome::fail;
use super::prepare::Incoming;
use super::worker::Worker;
use basalt_engine::{Gating, Point};
use basalt_resp::{Output, Reply};
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_service::session::Session;

/// Calls with more words go the long way, which notices those that take long: a look at one key
/// with few words cannot.
const WORDS_MAX: usize = 64;

/// Requests to which a short way is open. Each of its functions runs them from the first on, for as
/// long as the short way is enough for them and can be had at once; returns their count.
pub(super) struct Short<'a> {
    pub(super) alike: Alike<'a>,
    pub(super) worker: &'a mut Worker,
    pub(super) session: &'a mut Session,
    pub(super) out: &'a mut Output,
}

impl Short<'_> {
    /// Looks at the key of each request, for as long as that is enough.
    #[inline(never)]
    pub(super) fn look<'a>(
        &mut self,
        requests: impl Iterator<Item = Incoming<'a>>,
        run: impl Fn(&Point<'_>, &Args<'_>, &mut Reply<'_>) -> Option<CommandResult>,
    ) -> usize {
        let alike = self.alike;
        if alike.words > WORDS_MAX {
            return 0;
        }
        let key_session = key_session(self.worker, self.session);
        let mut reply = Reply::new(self.out, self.session.protocol);
        let (mut ran, mut hits) = (0, 0);
        for request in requests {
            let Some(key) = alike.key_of(request) else { break };
            let keys = [key];
            let args = Args::new(request.buffer, request.words).with_keys(&keys);
            let seen = request.prepared.seen;
            let gate = &mut self.session.gate;
            let read =
                alike.server.engine.read_point(&keys[0], seen, &key_session, gate, |point| {
                    let result = run(point, &args, &mut reply)?;
                    Some((result, point.object().is_some()))
                });
            let Some(Some((result, is_hit))) = read else { break };
            if let Err(error) = result {
                fail(self.worker, alike.id, &error, &mut reply);
            }
            hits += u32::from(is_hit);
            ran += 1;
        }
        self.worker.count_lookups((hits, ran - hits));
        ran as usize
    }

    /// Overwrites the string under the key of each request, for as long as it is one.
    #[inline(never)]
    pub(super) fn overwrite<'a>(&mut self, requests: impl Iterator<Item = Incoming<'a>>) -> usize {
        let alike = self.alike;
        let key_session = key_session(self.worker, self.session);
        let gating = self.worker.gating;
        let overwriting = alike.server.engine.overwriting(&key_session, gating);
        let log = overwriting.log();
        let mut ran = 0;
        for request in requests {
            let Some(key) = alike.key_of(request) else { break };
            let shard = key.partition.shard();
            if self.worker.admit_changes(alike.server, shard).is_err() {
                break;
            }
            // Another thread may have appended last: of two, each SET takes a tenth less so.
            log.prefetch(shard);
            let value = request.words[2].of(request.buffer);
            let seen = request.prepared.seen;
            let put = overwriting.put(&key, seen, value, &mut self.worker.changes);
            let Some(ticket) = put else { break };
            match gating {
                Gating::On => self.session.gate.add(ticket),
                Gating::Off => self.session.gate.add_demanded(ticket, log),
            }
            Reply::new(self.out, self.session.protocol).ok();
            ran += 1;
        }
        ran
    }
}
