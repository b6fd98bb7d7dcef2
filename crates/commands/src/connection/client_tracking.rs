//! CLIENT TRACKING, CACHING, GETREDIR and TRACKINGINFO.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Held, LockWait, Transaction};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::read_tracking::Choosing;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::tracking::{Partitions, Redirect, Scope, Tracker, redirection_of};
use basalt_service::wait::Wait;
use basalt_spec::{CommandSpec, Flag, Flags, Group, around};
use basalt_tracking::{Overlap, Prefixes};
use std::sync::Arc;

const FLAGS: Flags = Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]);

pub(super) const CLIENT_TRACKING: Entry = Entry {
    spec: CommandSpec {
        name: "client|tracking",
        synopsis: "<ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] \
                   [OPTIN] [OPTOUT] [NOLOOP]",
        group: Group::Connection,
        flags: FLAGS,
        overrides: &[around("ON").named("status")],
        since: "6.0.0",
        complexity: "O(1); some 0.1 ms when the first connection with BCAST comes, and when the \
                     last one goes",
        summary: "Has the connection told when keys change of which it keeps copies.",
        examples: &[
            "CLIENT TRACKING ON => OK",
            "CLIENT TRACKING OFF => OK",
            "CLIENT TRACKING ON PREFIX user: => (error) ERR PREFIX option requires BCAST mode to be enabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(tracking),
    traits: Traits {
        is_about_connection: true,
        locks_partitions: true,
        takes_long: true,
        ..Traits::NONE
    },
    ..Entry::DEFAULT
};
pub(super) const CLIENT_CACHING: Entry = Entry {
    spec: CommandSpec {
        name: "client|caching",
        synopsis: "<YES | NO>",
        group: Group::Connection,
        flags: FLAGS,
        overrides: &[around("YES").named("mode")],
        since: "6.0.0",
        complexity: "O(1)",
        summary: "Says whether copies are kept of the keys that the next command reads.",
        examples: &[
            "CLIENT CACHING YES => (error) ERR CLIENT CACHING can be called only when the client \
             is in tracking mode with OPTIN or OPTOUT mode enabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(caching),
    traits: Traits { is_about_connection: true, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const CLIENT_GETREDIR: Entry = Entry {
    spec: CommandSpec {
        name: "client|getredir",
        group: Group::Connection,
        flags: FLAGS,
        since: "6.0.0",
        complexity: "O(1)",
        summary: "Returns the connection that is told in place of this one; 0 if none is, -1 if \
                  keys are not tracked.",
        examples: &["CLIENT GETREDIR => (integer) -1"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(get_redirection),
    ..Entry::DEFAULT
};
pub(super) const CLIENT_TRACKINGINFO: Entry = Entry {
    spec: CommandSpec {
        name: "client|trackinginfo",
        group: Group::Connection,
        flags: FLAGS,
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Returns how the keys are tracked that the connection reads.",
        examples: &["CLIENT TRACKINGINFO => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(tracking_info),
    ..Entry::DEFAULT
};

const ONE_REDIRECTION: CommandError =
    CommandError::fixed("ERR A client can only redirect to a single other client");
const NO_SUCH_CLIENT: CommandError =
    CommandError::fixed("ERR The client ID you want redirect to does not exist");
const PREFIX_WITHOUT_BCAST: CommandError =
    CommandError::fixed("ERR PREFIX option requires BCAST mode to be enabled");
const OTHER_SCOPE: CommandError = CommandError::fixed(
    "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then \
     re-enabling it with a different mode.",
);
const CHOOSING_BROADCAST: CommandError =
    CommandError::fixed("ERR OPTIN and OPTOUT are not compatible with BCAST");
const IN_AND_OUT: CommandError =
    CommandError::fixed("ERR You can't specify both OPTIN mode and OPTOUT mode");
const OTHER_CHOOSING: CommandError = CommandError::fixed(
    "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then \
     re-enabling it with a different mode.",
);
const NO_CHOICE: CommandError = CommandError::fixed(
    "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or \
     OPTOUT mode enabled",
);
const YES_WITHOUT_IN: CommandError = CommandError::fixed(
    "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.",
);
const NO_WITHOUT_OUT: CommandError = CommandError::fixed(
    "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.",
);
const OTHER_PROTOCOL: CommandError =
    CommandError::fixed("ERR keys are tracked for connections of Redis' protocol only");

/// The options of CLIENT TRACKING.
#[derive(Default)]
struct Options<'a> {
    redirect: Option<Redirect>,
    prefixes: Vec<&'a [u8]>,
    broadcasts: bool,
    opts_in: bool,
    opts_out: bool,
    noloop: bool,
}

impl<'a> Options<'a> {
    fn parse(ctx: &Context<'_>, args: &Args<'a>) -> Result<Options<'a>, CommandError> {
        let mut options = Options::default();
        let mut at = 3;
        while at < args.len() {
            let has_value = at + 1 < args.len();
            if has_value && args.is(at, "redirect") {
                at += 1;
                if options.redirect.is_some() {
                    return Err(ONE_REDIRECTION);
                }
                options.redirect = redirection(ctx, args.word(at))?;
            } else if has_value && args.is(at, "prefix") {
                at += 1;
                options.prefixes.push(args.word(at));
            } else if args.is(at, "bcast") {
                options.broadcasts = true;
            } else if args.is(at, "optin") {
                options.opts_in = true;
            } else if args.is(at, "optout") {
                options.opts_out = true;
            } else if args.is(at, "noloop") {
                options.noloop = true;
            } else {
                return Err(CommandError::SYNTAX);
            }
            at += 1;
        }
        Ok(options)
    }

    /// Whether the options go together, and with how the client is tracked already.
    fn check(&self, before: Option<&Scope>) -> Result<(), CommandError> {
        if !self.broadcasts && !self.prefixes.is_empty() {
            return Err(PREFIX_WITHOUT_BCAST);
        }
        let broadcast = matches!(before, Some(Scope::Broadcast(_)));
        if before.is_some() && broadcast != self.broadcasts {
            return Err(OTHER_SCOPE);
        }
        if self.broadcasts && (self.opts_in || self.opts_out) {
            return Err(CHOOSING_BROADCAST);
        }
        if self.opts_in && self.opts_out {
            return Err(IN_AND_OUT);
        }
        match before {
            Some(Scope::Read(Choosing::Out)) if self.opts_in => Err(OTHER_CHOOSING),
            Some(Scope::Read(Choosing::In)) if self.opts_out => Err(OTHER_CHOOSING),
            _ => Ok(()),
        }
    }

    /// What the client wants to hear of from now on.
    fn scope(&self, before: Option<&Scope>) -> Result<Scope, CommandError> {
        if !self.broadcasts {
            return Ok(Scope::Read(match (self.opts_in, self.opts_out) {
                (true, _) => Choosing::In,
                (_, true) => Choosing::Out,
                _ => Choosing::All,
            }));
        }
        let mut prefixes = match before {
            Some(Scope::Broadcast(prefixes)) => prefixes.clone(),
            _ => Vec::new(),
        };
        if let Some(overlap) = Prefixes::overlap(&self.prefixes, &prefixes) {
            return Err(overlapping(overlap));
        }
        if self.prefixes.is_empty() {
            if !prefixes.iter().any(|prefix| prefix.is_empty()) {
                prefixes.push(Box::default());
            }
        } else {
            prefixes.extend(self.prefixes.iter().map(|prefix| Box::from(*prefix)));
        }
        Ok(Scope::Broadcast(prefixes))
    }
}

fn redirection(ctx: &Context<'_>, word: &[u8]) -> Result<Option<Redirect>, CommandError> {
    let id = parse_i64(word).ok_or(CommandError::NOT_INTEGER)?;
    let id = u64::try_from(id).map_err(|_| NO_SUCH_CLIENT)?;
    let client = ctx.server.clients.by_id(id).ok_or(NO_SUCH_CLIENT)?;
    Ok(Some(Redirect { id, client: Arc::downgrade(&client) }))
}

fn overlapping(overlap: Overlap<'_>) -> CommandError {
    let (one, other, what) = match overlap {
        Overlap::Existing(one, other) => (one, other, "an existing"),
        Overlap::Provided(one, other) => (one, other, "another provided"),
    };
    let (one, other) = (String::from_utf8_lossy(one), String::from_utf8_lossy(other));
    CommandError::new(format!(
        "ERR Prefix '{one}' overlaps with {what} prefix '{other}'. Prefixes for a single client \
         must not overlap."
    ))
}

fn tracking(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let options = Options::parse(ctx, args)?;
    let server = ctx.server;
    if args.is(2, "off") {
        let partitions = partitions(&mut ctx.transaction, ctx.lock_wait);
        server.trackers.stop(&server.engine, ctx.session, partitions);
        reply.ok();
        return Ok(Flow::Done);
    }
    if !args.is(2, "on") {
        return Err(CommandError::SYNTAX);
    }
    if ctx.session.client.front.is_some() {
        return Err(OTHER_PROTOCOL);
    }
    let before = server.trackers.by_id(ctx.session.client.id);
    let before = before.as_ref().map(|tracker| &tracker.scope);
    options.check(before)?;
    let scope = options.scope(before)?;
    let tracker = Tracker::new(ctx.session, options.redirect, options.noloop, scope);
    let partitions = partitions(&mut ctx.transaction, ctx.lock_wait);
    match server.trackers.start(&server.engine, ctx.session, tracker, partitions) {
        Ok(()) => {
            reply.ok();
            Ok(Flow::Done)
        }
        Err(Held) => Ok(Flow::Wait(Wait::Held)),
    }
}

fn partitions<'a, 't>(
    transaction: &'a mut Option<Transaction<'t>>,
    wait: LockWait,
) -> Partitions<'a, 't> {
    match transaction {
        Some(transaction) => Partitions::Held(transaction),
        None => Partitions::Free(wait),
    }
}

fn caching(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let is_tracked = ctx.server.trackers.by_id(ctx.session.client.id).is_some();
    if !is_tracked {
        return Err(NO_CHOICE);
    }
    let (wanted, otherwise) = if args.is(2, "yes") {
        (Choosing::In, YES_WITHOUT_IN)
    } else if args.is(2, "no") {
        (Choosing::Out, NO_WITHOUT_OUT)
    } else {
        return Err(CommandError::SYNTAX);
    };
    match &mut ctx.session.read_tracking {
        Some(tracking) if tracking.choosing == wanted => tracking.choose(),
        _ => return Err(otherwise),
    }
    reply.ok();
    Ok(Flow::Done)
}

fn get_redirection(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let tracker = ctx.server.trackers.by_id(ctx.session.client.id);
    reply.integer(redirection_of(tracker.as_deref()));
    Ok(Flow::Done)
}

fn tracking_info(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let tracker = ctx.server.trackers.by_id(ctx.session.client.id);
    let mut flags = Vec::new();
    match tracker.as_deref() {
        None => flags.push("off"),
        Some(tracker) => {
            flags.push("on");
            let is_chosen = ctx.session.read_tracking.is_some_and(|it| it.is_chosen());
            match (&tracker.scope, is_chosen) {
                (Scope::Broadcast(_), _) => flags.push("bcast"),
                (Scope::Read(Choosing::All), _) => {}
                (Scope::Read(Choosing::In), false) => flags.push("optin"),
                (Scope::Read(Choosing::In), true) => flags.extend(["optin", "caching-yes"]),
                (Scope::Read(Choosing::Out), false) => flags.push("optout"),
                (Scope::Read(Choosing::Out), true) => flags.extend(["optout", "caching-no"]),
            }
            flags.extend(tracker.noloop.then_some("noloop"));
            flags.extend(tracker.is_broken().then_some("broken_redirect"));
        }
    }
    reply.map(3);
    reply.bulk(b"flags");
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"redirect");
    reply.integer(redirection_of(tracker.as_deref()));
    reply.bulk(b"prefixes");
    let mut prefixes = tracker.map(|tracker| tracker.prefixes().to_vec()).unwrap_or_default();
    prefixes.sort_unstable();
    reply.array(prefixes.len());
    prefixes.iter().for_each(|prefix| reply.bulk(prefix));
    Ok(Flow::Done)
}
