//! CLIENT KILL.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::clients::{ClientHandle, ClientType};
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, around, at};

pub(super) const CLIENT_KILL: Entry = Entry {
    spec: CommandSpec {
        name: "client|kill",
        synopsis: "<ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE | REPLICA \
               | PUBSUB>] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | \
               [SKIPME yes/no]> [...]>",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        overrides: &[
            at("ip:port").first().deprecated_since("2.8.12"),
            at("ID").since("2.8.12"),
            at("MASTER").since("3.2.0"),
            at("REPLICA").since("5.0.0"),
            at("TYPE").named("normal_master_slave_pubsub").since("2.8.12"),
            at("LADDR").since("6.2.0"),
            around("ID").named("new-format"),
            around("new-format").named("filter"),
        ],
        since: "2.4.0",
        complexity: "O(N) with N connections",
        summary: "Closes the connections that fit all filters, or the one with an address.",
        examples: &[
            "CLIENT KILL ID 999999 => (integer) 0",
            "CLIENT KILL 1.2.3.4:5 => (error) ERR No such client",
            "CLIENT KILL ID x => (error) ERR client-id should be greater than 0",
        ],
        history: &[
            ("2.8.12", "Filters by name, among them ID."),
            ("3.2.0", "Type master."),
            ("5.0.0", "Type replica in place of slave, which is still understood."),
            ("6.2.0", "Filter LADDR."),
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(kill),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

/// Which connections are to be closed: those that fit everything that is given.
struct Filter<'a> {
    id: Option<u64>,
    address: Option<&'a [u8]>,
    local_address: Option<&'a [u8]>,
    of_type: Option<ClientType>,
    user: Option<&'a [u8]>,
    own: Own,
}

/// What becomes of the connection that asks.
#[derive(PartialEq, Eq)]
enum Own {
    /// It stays.
    Skipped,
    /// It is closed, too, once it has its answer.
    Included,
}

impl Default for Filter<'_> {
    fn default() -> Self {
        Filter {
            id: None,
            address: None,
            local_address: None,
            of_type: None,
            user: None,
            own: Own::Skipped,
        }
    }
}

fn kill(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let is_old_form = args.len() == 3;
    let filter = if is_old_form {
        Filter { address: Some(args.word(2)), own: Own::Included, ..Filter::default() }
    } else {
        Filter::parse(ctx, args)?
    };
    let mut flow = Flow::Done;
    let mut killed = 0;
    for client in ctx.server.clients.all() {
        if !filter.fits(&client) {
            continue;
        }
        if client.id != ctx.session.client.id {
            client.kill(&ctx.server.engine, ctx.lock_wait);
        } else if filter.own == Own::Included {
            flow = Flow::Close;
        } else {
            continue;
        }
        killed += 1;
    }
    match (is_old_form, killed) {
        (true, 0) => return Err(CommandError::fixed("ERR No such client")),
        (true, _) => reply.ok(),
        (false, _) => reply.integer(killed),
    }
    Ok(flow)
}

impl<'a> Filter<'a> {
    fn parse(ctx: &Context<'_>, args: &Args<'a>) -> Result<Filter<'a>, CommandError> {
        let mut filter = Filter::default();
        for at in (2..args.len()).step_by(2) {
            let value = args.opt(at + 1).ok_or(CommandError::SYNTAX)?;
            if args.is(at, "id") {
                filter.id = Some(client_id(value)?);
            } else if args.is(at, "type") {
                filter.of_type = Some(ClientType::parse(value)?);
            } else if args.is(at, "addr") {
                filter.address = Some(value);
            } else if args.is(at, "laddr") {
                filter.local_address = Some(value);
            } else if args.is(at, "user") {
                if ctx.server.access.user(value).is_none() {
                    let user = String::from_utf8_lossy(value);
                    return Err(CommandError::new(format!("ERR No such user '{user}'")));
                }
                filter.user = Some(value);
            } else if args.is(at, "skipme") {
                filter.own = own(value)?;
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        Ok(filter)
    }

    fn fits(&self, client: &ClientHandle) -> bool {
        self.id.is_none_or(|id| id == client.id)
            && self.address.is_none_or(|address| address == client.address.as_bytes())
            && self.local_address.is_none_or(|address| address == client.local_address.as_bytes())
            && self.user.is_none_or(|user| *user == *client.user())
            && self.of_type.is_none_or(|of_type| of_type == client.client_type())
    }
}

fn client_id(word: &[u8]) -> Result<u64, CommandError> {
    parse_i64(word)
        .and_then(|id| u64::try_from(id).ok())
        .filter(|id| *id > 0)
        .ok_or(CommandError::fixed("ERR client-id should be greater than 0"))
}

fn own(word: &[u8]) -> Result<Own, CommandError> {
    if word.eq_ignore_ascii_case(b"yes") {
        Ok(Own::Skipped)
    } else if word.eq_ignore_ascii_case(b"no") {
        Ok(Own::Included)
    } else {
        Err(CommandError::SYNTAX)
    }
}
