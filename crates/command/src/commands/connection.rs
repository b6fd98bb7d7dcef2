//! Commands of the connection family.

mod auth;
mod basics;
mod client;
mod client_kill;
mod client_list;
mod client_names;
mod client_switches;
mod hello;

use super::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[
    auth::AUTH,
    basics::ECHO,
    basics::PING,
    basics::QUIT,
    basics::RESET,
    basics::SELECT,
    client::CLIENT,
    client::CLIENT_GETREDIR,
    client::CLIENT_HELP,
    client::CLIENT_ID,
    client_kill::CLIENT_KILL,
    client_list::CLIENT_INFO,
    client_list::CLIENT_LIST,
    client_names::CLIENT_GETNAME,
    client_names::CLIENT_SETINFO,
    client_names::CLIENT_SETNAME,
    client_switches::CLIENT_NO_EVICT,
    client_switches::CLIENT_NO_TOUCH,
    client_switches::CLIENT_REPLY,
    hello::HELLO,
];
