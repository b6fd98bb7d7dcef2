//! CLIENT with its small subcommands.

use crate::help::{container, help};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands};

pub(super) const CLIENT: Entry = Entry {
    spec: CommandSpec {
        name: "client",
        group: Group::Connection,
        subcommands: Subcommands::Required,
        since: "2.4.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about connections.",
        examples: &[
            "CLIENT => (error) ERR wrong number of arguments for 'client' command",
            "CLIENT nosuch => (error) ERR unknown subcommand 'nosuch'. Try CLIENT HELP.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const CLIENT_ID: Entry = Entry {
    spec: CommandSpec {
        name: "client|id",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Returns the number of the connection, which is never used again.",
        examples: &["CLIENT ID => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(id),
    ..Entry::DEFAULT
};
const HELP: &[&str] = &[
    "CACHING (YES|NO)",
    "    Keep copies of the keys that the next command reads, or not: under",
    "    OPTIN and OPTOUT.",
    "GETREDIR",
    "    Return the connection that is told in place of this one when keys change.",
    "GETNAME",
    "    Return the name of the connection.",
    "ID",
    "    Return the number of the connection.",
    "INFO",
    "    Describe the connection.",
    "KILL <ip:port>",
    "    Close the connection from <ip:port>.",
    "KILL <option> <value> [<option> <value> [...]]",
    "    Close all connections that have all of these:",
    "    * ID <client-id>",
    "      This number.",
    "    * ADDR (<ip:port>|<unixsocket>:0)",
    "      This address of the client.",
    "    * LADDR (<ip:port>|<unixsocket>:0)",
    "      This address of the server.",
    "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
    "      This class.",
    "    * USER <username>",
    "      This user.",
    "    * SKIPME (YES|NO)",
    "      Spare the connection that asks (default: yes).",
    "LIST [options ...]",
    "    Describe connections, all or some of them:",
    "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
    "      Those of a class.",
    "    * ID <client-id> [<client-id> ...]",
    "      Those with these numbers.",
    "UNPAUSE",
    "    End the pause of the clients.",
    "PAUSE <timeout> [WRITE|ALL]",
    "    Have all clients wait, or those that write, for <timeout> milliseconds.",
    "REPLY (ON|OFF|SKIP)",
    "    Switch the replies to this connection off or on, or skip the next one.",
    "SETNAME <name>",
    "    Name the connection.",
    "SETINFO <option> <value>",
    "    Say what the client is. Options are:",
    "    * LIB-NAME: the name of its library.",
    "    * LIB-VER: the version of its library.",
    "UNBLOCK <clientid> [TIMEOUT|ERROR]",
    "    Have a client that waits for keys wait no longer.",
    "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
    "         [OPTIN] [OPTOUT] [NOLOOP]",
    "    Tell the connection when keys change of which it keeps copies.",
    "TRACKINGINFO",
    "    Describe how the keys that the connection reads are tracked.",
    "NO-EVICT (ON|OFF)",
    "    Spare the connection when clients use too much memory.",
    "NO-TOUCH (ON|OFF)",
    "    Leave no trace in when and how often keys were used.",
];

pub(super) const CLIENT_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "client|help",
        group: Group::Connection,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of CLIENT.",
        examples: &["CLIENT HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};

fn id(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.integer(ctx.session.client.id as i64);
    Ok(Flow::Done)
}
