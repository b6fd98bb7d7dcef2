//! CAS.SET.

use super::options::{Accepted, Answer, Condition, Numbering, OPTION_NAMES, Options};
use super::reply_outcome;
use crate::strings::string;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Key, Object, StringValue, Txn, Version};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use std::sync::Arc;

pub(super) const CAS_SET: Entry = Entry {
    spec: CommandSpec {
        name: "cas.set",
        synopsis: "key value [IF version | IFDEQ digest | NX | XX] [EX seconds | PX milliseconds | \
                   EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL] [COUNTED | FORCE \
                   forced-version] [GET]",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::MODIFY],
        overrides: OPTION_NAMES,
        since: "0.1.0",
        complexity: "O(1); with IFDEQ O(N) with N bytes of the string that is there",
        summary: "Stores a string, whatever was at the key before, if the key has a given version. From \
                  then on every change of the key gives it a new version. Returns 1 and the new one, or \
                  0 and the one that it has; with GET also the string that was there.",
        examples: &[
            "CAS.SET k v NX FORCE 7 => [(integer) 1, \"7\"]",
            "CAS.SET k w NX => [(integer) 0, \"7\"]",
            "CAS.SET k w IF 6 => [(integer) 0, \"7\"]",
            "CAS.SET k w IF 7 EX 100 COUNTED => [(integer) 1, \"8\"]",
            "TTL k => (integer) 100",
            "CAS.SET k x KEEPTTL COUNTED => [(integer) 1, \"9\"]",
            "TTL k => (integer) 100",
            r#"CAS.GET k => ["9", (integer) 100000, "x"]"#,
            r#"CAS.SET k z IF 9 COUNTED GET => [(integer) 1, "10", "x"]"#,
            "CAS.SET absent v XX => [(integer) 0, \"0\"]",
            "CAS.SET k y IF 0 => (error) ERR a version is an integer above 0 ...",
            "CAS.SET k y IF 9 XX => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(set),
    ..Entry::DEFAULT
};

/// Words before the options.
const WORDS: usize = 3;

fn set(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let accepted = Accepted { digest: true, get: true };
    let Options { condition, expiry, numbering, answer } = Options::parse(args, WORDS, accepted)?;
    let key = args.key(0);
    if let Condition::Compared(comparison) = condition
        && comparison.must_run_apart(txn, key)
    {
        return Ok(());
    }
    let previous = txn.get(key);
    let previous_expire_ms = || previous.map_or(0, Object::expire_ms);
    let expire_ms = expiry.expire_ms(txn.now_ms(), "cas.set", previous_expire_ms)?;
    let current = previous.map_or(Version::NONE, Object::version);
    let is_met = holds(condition, previous)?;
    let previous = match answer {
        Answer::Nothing => None,
        Answer::Previous => Some(previous.map(kept).transpose()?),
    };
    let version = if is_met {
        expiry.put(txn, key, args.word(2), expire_ms);
        number(txn, key, numbering, current)
    } else {
        current
    };
    reply.array(if previous.is_some() { 3 } else { 2 });
    reply_outcome(is_met, version, reply);
    match previous {
        Some(Some(value)) => reply.bulk_shared(value),
        Some(None) => reply.null(),
        None => {}
    }
    Ok(())
}

fn holds(condition: Condition<'_>, previous: Option<Object<'_>>) -> Result<bool, CommandError> {
    match condition {
        Condition::Compared(comparison) => comparison.holds(previous),
        other => Ok(other.holds_of(previous.map(Object::version))),
    }
}

/// A string that outlives its key.
fn kept(object: Object<'_>) -> Result<Arc<Vec<u8>>, CommandError> {
    Ok(match string(object)? {
        StringValue::Shared(shared) => shared.to_arc(),
        StringValue::Inline(bytes) => Arc::new(bytes.to_vec()),
    })
}

/// Sets the version of the key, which has just been put; none if that has expired already.
fn number(txn: &mut Txn<'_>, key: &Key<'_>, numbering: Numbering, current: Version) -> Version {
    let forced = match numbering {
        _ if txn.get(key).is_none() => return Version::NONE,
        Numbering::Unique => return txn.make_versioned(key),
        // It may have one already, which is not known yet.
        Numbering::Counted if txn.is_unread(key) => return txn.make_versioned(key),
        Numbering::Counted => current.counted(),
        Numbering::Forced(version) => version,
    };
    txn.force_version(key, forced);
    forced
}
