//! HOT PATH
//! Queues of messages that are delivered, held and acknowledged.
//!
//! ```text
//!  put ─▶ delayed ──time──▶ ready(lane) ──deliver──▶ leased ──acknowledge──▶ gone
//!    └──────────────────────▶ │  ▲                    │ │ └─ too often ─▶ dead ──revive──▶ ready
//!                             │  └── time, given back ┘ └─ given back with a delay ─▶ delayed
//!                             └── expired: gone
//!
//! queue ─▶ lanes    ten; blocks of messages as they were put      queue/lane.rs, queue/block.rs
//!          entries  in blocks: state, times, deliveries           queue/entry.rs, queue/entries.rs
//!                   none for one that is ready and was never delivered
//!          workers  names of consumers, which entries share       queue/workers.rs
//!          due      notes: (time, message), what time will do     queue/due.rs, queue/settle.rs
//!          known    B-tree: name ─▶ message, for deduplication
//!          settings, totals, how far each lane has been delivered
//! ```
//! The lane with the highest number comes first, in a lane messages come in the order of their
//! puts. One that returns keeps its place, before all that were put later.
//!
//! A delivery has a token. It is good until the next delivery of the same message, so that a
//! consumer that was slow can still acknowledge what nobody else has got, and cannot touch what
//! somebody else has.
//!
//! A queue stays when it is empty: it has settings.
//!
//! Costs that grow with what is there: purging walks what it removes, looking at all messages walks
//! them, and names that are remembered take 100 bytes each.

mod block;
mod change;
mod due;
mod edit;
mod entries;
mod entry;
mod id;
mod ids;
mod lane;
mod name;
mod native;
mod read;
mod settings;
mod settle;
mod spread;
mod state;
mod totals;
mod workers;

#[cfg(test)]
mod tests;

pub use change::{
    Dedup, Delivery, Demand, Hold, MESSAGES_MAX, NewMessage, Put, Refused, Return, Revived,
};
pub use id::{LANES, LaneNumber, MessageId, Token};
pub use native::{Native, Queue};
pub use read::{Counts, Message, Peek};
pub use settings::{Full, Paused, Settings};
pub use settle::SETTLED_MAX;
pub use state::State;
pub use totals::Totals;

use crate::collection::Collection;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::form::FormRef;
use crate::kind::Kind;
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, WalkPlace};

impl Collection for Queue {
    const KIND: Kind = Kind::Queue;
    const STAYS_WHEN_EMPTY: bool = true;
    const EXPIRES_WITHOUT_VERSIONS: bool = true;

    fn new() -> Queue {
        Queue::default()
    }

    #[inline]
    fn len(&self) -> usize {
        self.native().len() as usize
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        match self.0.read() {
            FormRef::Native(native) => native.heap_bytes(),
            FormRef::Packed(packed) => packed.heap_bytes(),
        }
    }

    #[inline]
    fn next_expiry_ms(&self) -> u64 {
        self.native().next_ms()
    }

    fn encoding(&self) -> &'static str {
        "queue"
    }

    /// The edits that make it of nothing.
    fn encode(&self, out: &mut Vec<u8>) {
        spread::write_as_edits(self, &mut Edits::to(out));
    }

    fn write_as_edits(&self, edits: &mut Edits<'_>) {
        spread::write_as_edits(self, edits);
    }

    /// Message by message: where blocks end says nothing about what is in a queue.
    fn visit_parts(&self, visit: &mut dyn FnMut(&[u8])) {
        let mut part = Vec::new();
        self.native().put_head(&mut part);
        visit(&part);
        self.visit_elements(WalkPlace::Start, usize::MAX, &mut |name, content| {
            if !name::is_block(name) {
                visit(&[name, content].concat());
            }
        });
        self.native().visit_records(&mut |id, record| {
            part.clear();
            id.put(&mut part);
            record.put(0, &mut part);
            visit(&part);
        });
    }

    fn decode(bytes: &[u8], _: &FormLimits) -> Result<Queue, DecodeError> {
        let mut queue = Queue::new();
        edit::apply(&mut queue, bytes)?;
        Ok(queue)
    }

    fn apply(&mut self, edits: &[u8], _: &FormLimits) -> Result<(), DecodeError> {
        edit::apply(self, edits)
    }
}
