//! Names of keys, gathered under locks and replied without them.

use basalt_resp::Reply;

/// Names in one buffer.
#[derive(Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Names {
    pub(super) fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    /// Replies with an array of them.
    pub(super) fn reply(&self, reply: &mut Reply<'_>) {
        reply.array(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            reply.bulk(&self.bytes[start..end]);
            start = end;
        }
    }
}
