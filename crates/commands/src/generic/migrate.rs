//! MIGRATE: keys go to another server, and are gone here once it has them.
//!
//! ```text
//! dump the keys ▸ ask the other server, parked ▸ look again ▸ remove what it has acknowledged
//! ```
//! Nothing is held in between: a key that has changed meanwhile is not removed, and the client is
//! told. The keys stay whole here until the other server has said that it has them.
//!
//! So it cannot be part of a transaction, nor of a script. EXEC holds its keys' partitions until
//! its changes are in the log: with them it would wait for a server that may never answer, or that
//! waits for this one because it moves keys in the other direction. Nor can EXEC let go of them:
//! sent before it, a key would be there though a watched key then has EXEC do nothing, and would
//! not be what the commands before have made of it; sent after it, the commands behind would still
//! find it here.

use super::dump::payload_of;
use crate::number::integer;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Secrets, Traits};
use basalt_engine::{
    ChangeSet, Claims, CommandContext, EventClass, EventClasses, Key, Transaction, View,
};
use basalt_resp::{Reply, encode_request};
use basalt_service::announce::Announcement;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::peer::{Errand, PeerAnswers, PeerCall, PeerFailure, SentKey, answered};
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{
    BeginSearch, Categories, Category, CommandSpec, FindKeys, Flag, Flags, Group, KeyFlag, KeyUse,
    KeysError, Kind, Words, around, at,
};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

pub(super) const MIGRATE: Entry = Entry {
    spec: CommandSpec {
        name: "migrate",
        synopsis: "host port <key | \"\"> destination-db timeout [COPY] [REPLACE] [[AUTH password] | [AUTH2 username password]] [KEYS key [key ...]]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TAKE, REST],
        keys_of_call: Some(keys_of_call),
        acl: Some(Categories::of(&[Category::Keyspace, Category::Dangerous])),
        overrides: &[
            at("\"\"").named("empty_string"),
            around("empty_string").named("key_or_empty_string"),
            at("destination-db").kind(Kind::Integer),
            at("timeout").kind(Kind::Integer),
            at("COPY").since("3.0.0"),
            at("REPLACE").since("3.0.0"),
            at("AUTH").since("4.0.7"),
            at("AUTH2").since("6.0.0"),
            around("AUTH").named("authentication"),
            at("KEYS").since("3.0.6"),
        ],
        since: "2.6.0",
        complexity: "That of DUMP, here, and of RESTORE, there",
        summary: "Moves keys to another server of Redis' protocol, or copies them.",
        examples: &[
            "MIGRATE 127.0.0.1 1 nokey 0 10 => NOKEY",
            "MIGRATE 127.0.0.1 1 k x 10 => (error) ERR value is not an integer or out of range",
            "MIGRATE 127.0.0.1 1 k 0 10 KEYS a => (error) ERR When using MIGRATE KEYS option, the key argument must be set to the empty string",
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(migrate),
    traits: Traits { asks_another_server: true, secrets: Secrets::AfterAuth, ..Traits::NONE },
    ..Entry::DEFAULT
};

/// The keys behind KEYS.
const REST: KeyUse =
    KeyUse::new(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Delete, KeyFlag::Incomplete]).found(
        BeginSearch::Keyword { keyword: "KEYS", start_from: -2 },
        FindKeys::Range { last_key: -1, step: 1, limit: 0 },
        &["KEYS"],
    );

/// Where the key of a call without KEYS is.
const KEY_PLACE: usize = 3;

/// The keys of a call are those behind KEYS, or the one at its place.
fn keys_of_call(call: &dyn Words) -> Result<Range<usize>, KeysError> {
    let mut at = 6;
    while at < call.count() {
        let is = |word: &[u8]| call.word(at).eq_ignore_ascii_case(word);
        if is(b"keys") && at + 1 < call.count() {
            let is_alone = call.word(KEY_PLACE).is_empty();
            return if is_alone { Ok(at + 1..call.count()) } else { Err(KeysError::Invalid) };
        }
        at += match () {
            () if is(b"auth") => 2,
            () if is(b"auth2") => 3,
            () => 1,
        };
    }
    Ok(KEY_PLACE..KEY_PLACE + 1)
}

/// The time for which the other server is waited for, if the call does not say how long.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(1);

/// What a call says.
struct Request<'a> {
    host: &'a [u8],
    port: &'a [u8],
    db: i64,
    timeout: Duration,
    copies: bool,
    replaces: bool,
    /// What AUTH is called with.
    auth: Vec<&'a [u8]>,
    keys: Vec<&'a [u8]>,
}

impl<'a> Request<'a> {
    fn parse(args: &Args<'a>) -> Result<Request<'a>, CommandError> {
        const KEYS: CommandError = CommandError::fixed(
            "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string",
        );
        let mut request = Request {
            host: args.word(1),
            port: args.word(2),
            db: 0,
            timeout: TIMEOUT_DEFAULT,
            copies: false,
            replaces: false,
            auth: Vec::new(),
            keys: vec![args.word(3)],
        };
        let mut at = 6;
        while at < args.len() {
            let words_after = args.len() - at - 1;
            if args.is(at, "copy") {
                request.copies = true;
            } else if args.is(at, "replace") {
                request.replaces = true;
            } else if args.is(at, "auth") && words_after >= 1 {
                request.auth = vec![args.word(at + 1)];
                at += 1;
            } else if args.is(at, "auth2") && words_after >= 2 {
                request.auth = vec![args.word(at + 1), args.word(at + 2)];
                at += 2;
            } else if args.is(at, "keys") {
                if !args.word(3).is_empty() {
                    return Err(KEYS);
                }
                request.keys = args.from(at + 1).collect();
                break;
            } else {
                return Err(CommandError::SYNTAX);
            }
            at += 1;
        }
        let timeout_ms = integer(args.word(5))?;
        request.db = integer(args.word(4))?;
        if let Ok(timeout_ms @ 1..) = u64::try_from(timeout_ms) {
            request.timeout = Duration::from_millis(timeout_ms);
        }
        Ok(request)
    }

    /// Requests that come before those for keys.
    fn preamble(&self) -> usize {
        1 + usize::from(!self.auth.is_empty())
    }

    fn call(&self, sent: &[SentKey], now_ms: u64) -> Option<PeerCall> {
        let mut requests = Vec::new();
        if !self.auth.is_empty() {
            let words: Vec<&[u8]> =
                std::iter::once(&b"AUTH"[..]).chain(self.auth.iter().copied()).collect();
            encode_request(&words, &mut requests);
        }
        encode_request(&[&b"SELECT"[..], self.db.to_string().as_bytes()], &mut requests);
        for SentKey { key, payload, expire_ms } in sent {
            let left_ms = match expire_ms {
                0 => 0,
                expire_ms => expire_ms.saturating_sub(now_ms).max(1),
            };
            let left_ms = left_ms.to_string();
            let mut words: Vec<&[u8]> = vec![b"RESTORE", key, left_ms.as_bytes(), payload];
            if self.replaces {
                words.push(b"REPLACE");
            }
            encode_request(&words, &mut requests);
        }
        Some(PeerCall {
            host: String::from_utf8(self.host.to_vec()).ok()?,
            port: std::str::from_utf8(self.port).ok()?.parse().ok()?,
            timeout: self.timeout,
            requests,
            count: self.preamble() + sent.len(),
        })
    }
}

const UNREACHABLE: CommandError =
    CommandError::fixed("IOERR error or timeout connecting to the client");

fn migrate(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let request = Request::parse(args)?;
    if let Some(errand) = ctx.session.errand.clone() {
        return match errand.answers() {
            None => Ok(Flow::Wait(Wait::Peer(errand))),
            Some(answers) => finish(ctx, &request, &errand, &answers, reply),
        };
    }
    let sent = match dump(ctx, &request.keys)? {
        Ok(sent) => sent,
        Err(wait) => return Ok(Flow::Wait(wait)),
    };
    if sent.is_empty() {
        reply.simple("NOKEY");
        return Ok(Flow::Done);
    }
    let call = request.call(&sent, ctx.now_ms).ok_or(UNREACHABLE)?;
    let errand = Arc::new(Errand::new(sent));
    ctx.session.errand = Some(Arc::clone(&errand));
    ctx.server.host.ask_peer(call, answered(&errand));
    Ok(Flow::Wait(Wait::Peer(errand)))
}

/// The keys that there are, as payloads; or what has to be waited for first.
fn dump(ctx: &Context<'_>, names: &[&[u8]]) -> Result<Result<Vec<SentKey>, Wait>, CommandError> {
    let engine = &*ctx.server.engine;
    let keys: Vec<Key<'_>> = names.iter().map(|name| engine.key(name)).collect();
    let Some(mut locked) = engine.lock_within(&keys, ctx.lock_wait) else {
        return Ok(Err(Wait::Held));
    };
    if let Some(missing) = engine.missing(&mut locked, ctx.session.db, &keys) {
        return Ok(Err(Wait::Keys(missing)));
    }
    let view = View::new(engine, locked, CommandContext::background(ctx.session.db, ctx.now_ms));
    let mut sent = Vec::new();
    for key in &keys {
        sent.extend(look(&view, key)?);
    }
    Ok(Ok(sent))
}

/// What is under a key now.
fn look(view: &View<'_>, key: &Key<'_>) -> Result<Option<SentKey>, CommandError> {
    let Some(object) = view.peek(key) else { return Ok(None) };
    let payload = payload_of(object, &view.limits())?;
    Ok(Some(SentKey { key: key.bytes.to_vec(), payload, expire_ms: object.expire_ms() }))
}

/// The other server has answered, or not: removes what it has, and tells the client.
fn finish(
    ctx: &mut Context<'_>,
    request: &Request<'_>,
    errand: &Errand,
    answers: &PeerAnswers,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let preamble = request.preamble();
    let is_let_in = answers.replies.iter().take(preamble).all(Result::is_ok);
    let acknowledged: Vec<&SentKey> = match is_let_in && !request.copies {
        true => {
            let replies = answers.replies.iter().skip(preamble);
            let pairs = errand.sent.iter().zip(replies);
            pairs.filter(|(_, reply)| reply.is_ok()).map(|(sent, _)| sent).collect()
        }
        false => Vec::new(),
    };
    let is_changed = match remove(ctx, &acknowledged) {
        Ok(removed) => removed < acknowledged.len(),
        Err(wait) => return Ok(Flow::Wait(wait)),
    };
    ctx.session.errand = None;
    if let Some(Err(error)) = answers.replies.iter().find(|reply| reply.is_err()) {
        let text = format!("ERR Target instance replied with error: {error}");
        return Err(CommandError::new(text));
    }
    if let Some(failure) = answers.failure {
        return Err(match failure {
            PeerFailure::Connecting => UNREACHABLE,
            PeerFailure::Writing => {
                CommandError::fixed("IOERR error or timeout writing to target instance")
            }
            PeerFailure::Reading => {
                CommandError::fixed("IOERR error or timeout reading from target instance")
            }
        });
    }
    if is_changed {
        return Err(CommandError::fixed(
            "TRYAGAIN a key has changed while it was migrated: it is still here, and the target \
             instance has what it was before",
        ));
    }
    reply.ok();
    Ok(Flow::Done)
}

/// Removes keys that are as they were when they were sent; returns how many.
fn remove(ctx: &mut Context<'_>, sent: &[&SentKey]) -> Result<usize, Wait> {
    if sent.is_empty() {
        return Ok(0);
    }
    let engine = &*ctx.server.engine;
    let keys: Vec<Key<'_>> = sent.iter().map(|sent| engine.key(&sent.key)).collect();
    let db = ctx.session.db;
    let claims = Claims {
        keys: keys.clone(),
        databases: db..db + 1,
        everything: false,
        reads_everything: false,
    };
    let classes = EventClasses::from_letters(&ctx.settings.server.key_event_letters);
    let mut changes = ChangeSet::default();
    changes.listen_for(classes);
    let wait = ctx.lock_wait;
    let mut transaction = Transaction::lock(engine, &claims, None, wait, &mut changes)?;
    transaction.check_resident(&claims)?;
    let session = ctx.key_session();
    let mut unchanged = Vec::new();
    {
        let view = transaction.view(session);
        for (key, sent) in keys.iter().zip(sent) {
            if look(&view, key).is_ok_and(|now| now.as_ref() == Some(*sent)) {
                unchanged.push(*key);
            }
        }
    }
    {
        let mut txn = transaction.txn(session);
        unchanged.iter().for_each(|key| {
            if txn.delete(key) {
                txn.notify(EventClass::Generic, "del", key);
            }
        });
    }
    transaction.commit(&mut ctx.session.gate);
    let after = &ctx.session.gate;
    let announcement = Announcement { pubsub: &ctx.server.pubsub, classes, after };
    for event in changes.events().drain(..) {
        announcement.announce(&event, ctx.outbox);
    }
    engine.note_changes(changes.take_count());
    engine.log().kick();
    Ok(unchanged.len())
}
