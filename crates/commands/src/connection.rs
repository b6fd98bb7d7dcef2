//! Commands of the connection family.

mod auth;
mod basics;
mod client;
mod client_kill;
mod client_list;
mod client_names;
mod client_pause;
mod client_switches;
mod client_tracking;
mod hello;

use basalt_call::entry::Entry;
use basalt_spec::{Flag, Flags};

/// Of what a client says about its connection itself: allowed at any time and before it has said
/// who it is.
const ALWAYS_ALLOWED: Flags = Flags::of(&[
    Flag::Noscript,
    Flag::Loading,
    Flag::Stale,
    Flag::Fast,
    Flag::NoAuth,
    Flag::AllowBusy,
]);

/// The family.
pub const COMMANDS: &[Entry] = &[
    auth::AUTH,
    basics::ECHO,
    basics::PING,
    basics::QUIT,
    basics::RESET,
    basics::SELECT,
    client::CLIENT,
    client::CLIENT_HELP,
    client::CLIENT_ID,
    client_kill::CLIENT_KILL,
    client_list::CLIENT_INFO,
    client_list::CLIENT_LIST,
    client_names::CLIENT_GETNAME,
    client_names::CLIENT_SETINFO,
    client_names::CLIENT_SETNAME,
    client_pause::CLIENT_PAUSE,
    client_pause::CLIENT_UNBLOCK,
    client_pause::CLIENT_UNPAUSE,
    client_switches::CLIENT_NO_EVICT,
    client_switches::CLIENT_NO_TOUCH,
    client_switches::CLIENT_REPLY,
    client_tracking::CLIENT_CACHING,
    client_tracking::CLIENT_GETREDIR,
    client_tracking::CLIENT_TRACKING,
    client_tracking::CLIENT_TRACKINGINFO,
    hello::HELLO,
];
