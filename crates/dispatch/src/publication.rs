//! What is published when a script or a transaction has ended.

use basalt_pubsub::Kind;

/// A message that a script has published, to be sent when its changes are in the log; or what
/// clients that monitor are told of a call.
pub(crate) struct Publication {
    pub(crate) kind: Kind,
    pub(crate) channel: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}
