//! The verbs about nodes and their files. There is one node, so they are answered at once.

use super::answer::Answered;
use super::given::Given;
use super::talk::Talk;
use basalt_http1::Status;

type Started = Result<Box<dyn Talk>, Answered>;

/// The version of huststore whose verbs these are.
const VERSION: &str = "1.9";

/// One range with all slots. The server does not know by which address its clients reach it.
const TABLE: &str = r#"{"table":[{"item":{"key":[0,1024],"val":[]}}]}"#;

/// No other node, and so nothing that it lacks.
const SYNC_STATUS: &str = r#"{"status":{},"total_status":{"processed_items":0,"synced_items":0}}"#;

/// `version`
pub(super) fn version(_: &Given<'_>) -> Started {
    Err(Answered::body(VERSION))
}

/// `peer_count`
pub(super) fn peer_count(_: &Given<'_>) -> Started {
    Err(Answered::body("1"))
}

/// `file_count`
pub(super) fn file_count(_: &Given<'_>) -> Started {
    Err(Answered::body("1"))
}

/// `get_table`
pub(super) fn table(_: &Given<'_>) -> Started {
    Err(Answered::body(TABLE))
}

/// `sync_status`
pub(super) fn sync_status(_: &Given<'_>) -> Started {
    Err(Answered::body(SYNC_STATUS))
}

/// `sync_alive`
pub(super) fn sync_alive(_: &Given<'_>) -> Started {
    Err(Answered::body("ok"))
}

/// `set_table`
pub(super) fn replace_table(_: &Given<'_>) -> Started {
    Err(not_here("ERR there is one node, and no table of nodes to set"))
}

/// `binlog host method key [tb]`
pub(super) fn binlog(_: &Given<'_>) -> Started {
    Err(not_here("ERR there is no other node to send a write to"))
}

fn not_here(reason: &str) -> Answered {
    Answered::failed(Status::NotImplemented, reason)
}
