//! HOT PATH
//! Query buffers: what a client has sent and no command has consumed, and how far it is parsed.
//!
//! ```text
//! 0        consumed          parsed                    filled        end of the buffer
//! │ has run │ parsed, to run  │ not parsed, or in part  │ room for a read │
//!           ◀──── rewind ─────┘ ── `wanted` bytes of it are needed ──▶
//! ```
//! Requests are parsed ahead of those that run, up to a batch of them. When one halts the others,
//! those behind it are parsed again later: [`Input::rewind`]. Parsing may change bytes in place, as
//! unquoting does; what may be parsed again is kept before it is changed ([`Input::keep`]), and is
//! put back by rewinding.
//!
//! A connection that fills its buffer in one read gets a larger one next time.

use crate::buffers::{BUFFER_BYTES, BufferPool};
use std::ops::Range;

/// Largest buffer that a connection keeps while it is empty.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// How many times as large a buffer becomes for a request that is larger. What is not filled takes
/// no memory, but each buffer that was too small does, until it is used again.
const GROWTH: usize = 64;

/// How large it becomes for a request of unknown length that fills one of [`KEPT_BYTES_MAX`]: few
/// fill this, too. To move one of 16 MiB takes ten milliseconds, in which other clients wait. It is
/// a little more than 64 MiB, and the steps above it a little more than 256 MiB and 1 GiB: limits
/// are such numbers, and a client is cut off at one before all of it is moved for a byte more.
const UNKNOWN_BYTES: usize = 65 << 20;

/// How many times as large it becomes if that does not suffice. Some systems refuse more than the
/// machine has, even if it is not filled.
const UNKNOWN_GROWTH: usize = 4;

/// What one read of a large request adds, where memory is scarce.
pub(crate) const READ_BYTES: usize = 64 << 10;

/// Places of changed bytes, and bytes, for which a connection keeps room.
const KEPT_ORIGINALS_MAX: usize = 64;
const KEPT_ORIGINAL_BYTES_MAX: usize = 16 << 10;

/// One connection's query buffer.
#[derive(Debug, Default)]
pub struct Input {
    /// `filled` bytes of it are the client's, the others are initialised. A large one has more
    /// capacity than it is long: it becomes longer read by read, and the rest takes no memory.
    bytes: Vec<u8>,
    filled: usize,
    /// Where the first byte is that no command has consumed.
    consumed: usize,
    /// Where parsing goes on.
    parsed: usize,
    /// Bytes from `parsed` on without which the request there cannot be parsed any further; 0 if
    /// nothing is known.
    wanted: usize,
    /// The last read filled all the room there was.
    greedy: bool,
    originals: Originals,
}

/// Bytes behind `consumed` as they came, where parsing has changed them; in their order.
#[derive(Debug, Default)]
struct Originals {
    places: Vec<Original>,
    /// Theirs, and those of some that are not among them any more.
    bytes: Vec<u8>,
}

/// Where bytes were changed, and where they stand as they came.
#[derive(Debug)]
struct Original {
    start: usize,
    /// Among the kept bytes.
    kept: Range<usize>,
}

impl Originals {
    fn keep(&mut self, start: usize, bytes: &[u8]) {
        let kept = self.bytes.len()..self.bytes.len() + bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.places.push(Original { start, kept });
    }

    /// Puts back what was changed from `from` on, and forgets everything.
    fn put_back(&mut self, from: usize, to: &mut [u8]) {
        for Original { start, kept } in self.places.drain(..) {
            if start >= from {
                to[start..start + kept.len()].copy_from_slice(&self.bytes[kept]);
            }
        }
        self.clear();
    }

    /// What stands before this place will not be parsed again.
    fn forget_before(&mut self, consumed: usize) {
        self.places.retain(|original| original.start >= consumed);
        if self.places.is_empty() {
            self.clear();
        }
    }

    /// The first bytes of all have gone.
    fn advance(&mut self, gone: usize) {
        self.places.retain(|original| original.start >= gone);
        self.places.iter_mut().for_each(|original| original.start -= gone);
        if self.places.is_empty() {
            self.clear();
        }
    }

    /// Forgets everything; what little memory it takes is kept for the next requests.
    fn clear(&mut self) {
        self.places.clear();
        self.bytes.clear();
        self.places.shrink_to(KEPT_ORIGINALS_MAX);
        self.bytes.shrink_to(KEPT_ORIGINAL_BYTES_MAX);
    }
}

impl Input {
    /// What the client has sent.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// What the client has sent, for a parser that changes it in place: what it changes of a
    /// request is to be kept before ([`Input::keep`]).
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.filled]
    }

    /// What the client has sent, and up to where commands have consumed it.
    #[inline(always)]
    pub(crate) fn for_running(&mut self) -> (&[u8], &mut usize) {
        (&self.bytes[..self.filled], &mut self.consumed)
    }

    /// Bytes of memory that it takes.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Whether a request is wholly there, or none has begun, as far as is known.
    #[inline]
    pub(crate) fn wants_nothing(&self) -> bool {
        self.wanted == 0
    }

    /// Whether a part of a request is all that is there, in clearly more memory than it needs: to
    /// move it there and back costs as much as reading many bytes.
    pub(crate) fn is_cut(&self) -> bool {
        let len = self.bytes.len();
        self.wanted > 0 && len <= BUFFER_BYTES && len > self.pending() + self.pending() / 4
    }

    /// Bytes of memory that it takes, and will by the next read if a part of a request is all that
    /// is there.
    pub(crate) fn bytes_cut(&self) -> usize {
        if self.wanted == 0 {
            return self.memory_bytes();
        }
        match self.target_bytes(self.bytes.capacity().max(BUFFER_BYTES)) {
            ..=BUFFER_BYTES if self.is_cut() => self.pending(),
            ..=BUFFER_BYTES => self.memory_bytes(),
            target => target.min(self.pending() + READ_BYTES).max(self.memory_bytes()),
        }
    }

    /// Bytes not yet consumed.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        self.filled - self.consumed
    }

    /// Where the request ends at which parsing stands, as far as is known: the length that the
    /// buffer has to have. One that was used before may have it already.
    pub(crate) fn end_wanted(&self) -> usize {
        self.parsed.saturating_add(self.wanted)
    }

    /// Where parsing goes on.
    #[inline(always)]
    pub fn parsed(&self) -> usize {
        self.parsed
    }

    /// Whether everything has been parsed.
    #[inline]
    pub(crate) fn is_parsed(&self) -> bool {
        self.parsed == self.filled
    }

    /// Whether there is something to parse, as far as is known.
    #[inline]
    pub(crate) fn is_parsable(&self) -> bool {
        !self.is_parsed() && self.wanted == 0
    }

    /// Parsing goes on at this place.
    #[inline(always)]
    pub(crate) fn pass_to(&mut self, end: usize) {
        debug_assert!((self.parsed..=self.filled).contains(&end), "{end} of {}", self.filled);
        self.parsed = end;
    }

    /// The request where parsing stands is not wholly there: it needs this many bytes at least.
    #[inline]
    pub(crate) fn want(&mut self, bytes: usize) {
        self.wanted = bytes.max(1);
    }

    /// Keeps bytes that are about to be changed, of a request that has not been passed.
    pub fn keep(&mut self, range: Range<usize>) {
        debug_assert!(self.parsed <= range.start);
        self.originals.keep(range.start, &self.bytes[..self.filled][range]);
    }

    /// Removes bytes of the request where parsing stands: they have been parsed and are of no
    /// further use. A rewind does not bring them back.
    ///
    /// # Panics
    /// If some have been passed, or are not there.
    pub fn remove(&mut self, range: Range<usize>) {
        assert!(self.parsed <= range.start && range.end <= self.filled, "they can be parsed");
        self.bytes.copy_within(range.end..self.filled, range.start);
        self.filled -= range.len();
    }

    /// Puts bytes where parsing stands, as if the client had sent them next: words of a command of
    /// its front's own. A rewind does not take them away.
    pub fn insert(&mut self, bytes: &[u8]) {
        let filled = self.filled + bytes.len();
        if filled > self.bytes.len() {
            self.bytes.resize(filled, 0);
        }
        self.bytes.copy_within(self.parsed..self.filled, self.parsed + bytes.len());
        self.bytes[self.parsed..self.parsed + bytes.len()].copy_from_slice(bytes);
        self.filled = filled;
    }

    /// Everything that was parsed has run, or was rewound: forgets what was kept of it, but not of
    /// a request whose front makes several of it, of which some have run.
    #[inline]
    pub(crate) fn forget_originals(&mut self) {
        if !self.originals.places.is_empty() {
            self.originals.forget_before(self.consumed);
        }
    }

    /// The request that ends there is done with. It has been rewound if others were served while it
    /// ran.
    pub(crate) fn consume_to(&mut self, end: usize) {
        debug_assert!((self.consumed..=self.filled).contains(&end));
        self.consumed = end;
        self.parsed = self.parsed.max(end);
    }

    /// Goes back to the first request that has not run: it and those behind it are as they came.
    pub(crate) fn rewind(&mut self) {
        if !self.originals.places.is_empty() {
            self.originals.put_back(self.consumed, &mut self.bytes);
        }
        self.parsed = self.consumed;
        self.wanted = 0;
    }

    /// Room to read into, `most` bytes at most: enough for the request where parsing stands to get
    /// on, within reason.
    pub(crate) fn room(&mut self, most: usize, pool: &mut BufferPool) -> &mut [u8] {
        if self.bytes.len() < BUFFER_BYTES {
            drop(self.expand(pool.take()));
        } else if self.consumed > 0 {
            self.bytes.copy_within(self.consumed..self.filled, 0);
            self.filled -= self.consumed;
            self.consumed_is_gone();
        }
        let target = self.target_bytes(self.bytes.capacity());
        if target > self.bytes.capacity() {
            // What another has filled takes memory that others may wait for: it goes to a request
            // that is known to be larger than its buffer.
            let is_known = self.end_wanted() > self.bytes.capacity();
            let larger = is_known.then(|| pool.take_large(target)).flatten();
            let larger = larger.unwrap_or_else(|| Vec::with_capacity(target));
            let old = self.expand(larger);
            pool.give(old);
        }
        let len = self.bytes.capacity().min(self.filled + most);
        if len > self.bytes.len() {
            self.bytes.resize(len, 0);
        }
        &mut self.bytes[self.filled..len]
    }

    /// Moves what is not consumed to a larger buffer; returns the one where it was.
    fn expand(&mut self, mut buffer: Vec<u8>) -> Vec<u8> {
        let pending = self.pending();
        let kept = &self.bytes[self.consumed..self.filled];
        if buffer.len() < pending {
            // It was not initialised that far, and need not be before.
            buffer.clear();
            buffer.extend_from_slice(kept);
        } else {
            buffer[..pending].copy_from_slice(kept);
        }
        let old = std::mem::replace(&mut self.bytes, buffer);
        self.filled = pending;
        self.consumed_is_gone();
        old
    }

    /// What is not consumed has moved to the front.
    #[inline(always)]
    fn consumed_is_gone(&mut self) {
        let gone = std::mem::take(&mut self.consumed);
        self.parsed -= gone;
        if !self.originals.places.is_empty() {
            self.originals.advance(gone);
        }
    }

    /// How large a buffer of `now` bytes should be for the next read.
    fn target_bytes(&self, now: usize) -> usize {
        let end = self.parsed.saturating_add(self.wanted);
        if end > now && self.filled >= now / 2 {
            // The client's word about a length is trusted one step at a time, and not before it has
            // sent half of what there is room for.
            let most = (now * GROWTH).max(self.filled + BUFFER_BYTES);
            let least = self.filled + (BUFFER_BYTES / 2).max(now / 4);
            return if end < least { self.unknown_target(now) } else { end.min(most) };
        }
        let grows = self.filled == now || self.greedy && now < KEPT_BYTES_MAX;
        if grows { (now * 2).max(BUFFER_BYTES) } else { now }
    }

    /// How large a buffer of `now` bytes should be for the next read of a request without a word
    /// about its length, as a body in chunks is: it would be moved at each of its reads.
    fn unknown_target(&self, now: usize) -> usize {
        match now {
            ..KEPT_BYTES_MAX => KEPT_BYTES_MAX.max(self.filled + BUFFER_BYTES),
            KEPT_BYTES_MAX..UNKNOWN_BYTES => UNKNOWN_BYTES,
            _ => now.saturating_mul(UNKNOWN_GROWTH),
        }
    }

    /// The client's bytes have been read into the room.
    #[inline]
    pub(crate) fn fill(&mut self, bytes: usize) {
        self.greedy = self.filled + bytes == self.bytes.capacity();
        self.filled += bytes;
        self.wanted = 0;
    }

    /// Releases the buffer if nothing is in it.
    #[inline]
    pub(crate) fn release(&mut self, pool: &mut BufferPool) {
        if self.consumed == self.filled && !self.bytes.is_empty() {
            (self.consumed, self.filled, self.parsed) = (0, 0, 0);
            if self.bytes.capacity() == BUFFER_BYTES {
                pool.give(std::mem::take(&mut self.bytes));
            } else if self.bytes.capacity() > KEPT_BYTES_MAX {
                pool.give_large(std::mem::take(&mut self.bytes));
            }
        }
    }

    /// Nothing of it will be parsed any more.
    pub(crate) fn end(&mut self, pool: &mut BufferPool) {
        let bytes = std::mem::take(self).bytes;
        match bytes.capacity() > KEPT_BYTES_MAX {
            true => pool.give_large(bytes),
            false => pool.give(bytes),
        }
    }

    /// Keeps what is not consumed in no more memory than it needs, for it may be long until it is.
    pub(crate) fn compact(&mut self, pool: &mut BufferPool) {
        let pending = self.bytes[self.consumed..self.filled].to_vec();
        self.filled = pending.len();
        pool.give(std::mem::replace(&mut self.bytes, pending));
        self.consumed_is_gone();
    }

    /// Frees memory that an idle connection does not need.
    pub(crate) fn shrink(&mut self) {
        if self.filled == 0 {
            self.bytes = Vec::new();
            self.originals = Originals::default();
            self.greedy = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const READ_MAX: usize = 256 << 10;

    fn feed(input: &mut Input, pool: &mut BufferPool, bytes: &[u8]) {
        let room = input.room(READ_MAX, pool);
        room[..bytes.len()].copy_from_slice(bytes);
        input.fill(bytes.len());
    }

    #[test]
    fn an_emptied_buffer_goes_back_and_a_cut_request_moves_to_the_front() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        feed(&mut input, &mut pool, b"abcdef");
        input.pass_to(6);
        input.consume_to(6);
        input.release(&mut pool);
        assert_eq!((input.bytes.len(), pool.idle_count()), (0, 1));
        feed(&mut input, &mut pool, b"xxxyz");
        input.pass_to(3);
        input.consume_to(3);
        feed(&mut input, &mut pool, b"!");
        assert_eq!(input.bytes(), b"yz!");
        assert_eq!((input.consumed, input.parsed, input.pending()), (0, 0, 3));
    }

    /// Others wait for the room that a large buffer takes, and a head needs little.
    #[test]
    fn a_request_that_begins_gets_no_large_buffer_of_another() {
        const BODY: usize = 900_000;
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        let read_on = |input: &mut Input, pool: &mut BufferPool, bytes: usize| {
            while input.pending() < bytes {
                input.want(BODY);
                let room = input.room(READ_MAX, pool).len();
                input.fill(room);
            }
        };
        feed(&mut input, &mut pool, b"head");
        read_on(&mut input, &mut pool, BODY);
        input.pass_to(BODY);
        input.consume_to(BODY);
        input.release(&mut pool);
        feed(&mut input, &mut pool, b"head");
        assert!(input.memory_bytes() <= 2 * BUFFER_BYTES, "{}", input.memory_bytes());
        read_on(&mut input, &mut pool, BODY / 2);
        assert_eq!(input.memory_bytes(), BODY, "the rest of a large one goes into it");
    }

    #[test]
    fn what_is_inserted_comes_before_what_is_not_parsed() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        input.insert(b"first");
        assert_eq!((input.bytes(), input.pending()), (&b"first"[..], 5));
        input.pass_to(5);
        input.rewind();
        input.pass_to(5);
        input.consume_to(5);
        feed(&mut input, &mut pool, b"abc");
        input.pass_to(1);
        input.insert(&[b'x'; BUFFER_BYTES]);
        assert_eq!(input.bytes().len(), BUFFER_BYTES + 3);
        assert!(input.bytes().starts_with(b"axx") && input.bytes().ends_with(b"xbc"));
    }

    #[test]
    fn a_request_that_was_rewound_can_be_done_with() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        feed(&mut input, &mut pool, b"abcdef");
        input.pass_to(4);
        input.rewind();
        input.consume_to(4);
        assert_eq!((input.consumed, input.parsed, input.pending()), (4, 4, 2));
    }

    #[test]
    fn a_compacted_buffer_goes_back_and_grows_again() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        feed(&mut input, &mut pool, b"abcdef");
        input.pass_to(4);
        input.consume_to(2);
        input.compact(&mut pool);
        assert_eq!((input.bytes(), input.bytes.len(), pool.idle_count()), (&b"cdef"[..], 4, 1));
        assert_eq!((input.consumed, input.parsed), (0, 2));
        assert!(input.room(READ_MAX, &mut pool).len() >= BUFFER_BYTES - 4);
        assert_eq!(input.bytes(), b"cdef");
        input.compact(&mut pool);
        input.want(1 << 30);
        assert!(input.room(READ_MAX, &mut pool).len() >= BUFFER_BYTES / 2);
    }

    #[test]
    fn a_claim_alone_takes_no_memory() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        for _ in 0..100 {
            feed(&mut input, &mut pool, b"abc");
            input.want(512 << 20);
            assert_eq!((input.is_cut(), input.bytes_cut()), (true, input.pending()));
            input.compact(&mut pool);
            assert_eq!((input.is_cut(), input.memory_bytes()), (false, input.pending()));
        }
        assert_eq!((input.bytes(), pool.idle_count()), (&b"abc".repeat(100)[..], 1));
    }

    #[test]
    fn a_long_body_without_a_length_is_moved_now_and_then() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        let (mut moves, mut moved, mut capacity) = (0, 0, 0);
        while input.filled < 33 << 20 {
            input.want(input.filled + 4);
            let filled = input.filled;
            let room = input.room(READ_BYTES, &mut pool).len();
            input.fill(room);
            assert!(input.memory_bytes() <= input.filled.max(BUFFER_BYTES));
            if std::mem::replace(&mut capacity, input.bytes.capacity()) != capacity {
                moves += 1;
                moved += filled;
            }
        }
        assert!(moves < 7, "{moves}");
        assert!(moved <= 3 * KEPT_BYTES_MAX, "{moved}");
        assert_eq!(input.memory_bytes(), input.filled);
    }

    #[test]
    fn a_request_that_reaches_a_limit_is_not_moved_first() {
        const WORD_BYTES: usize = (1 << 20) + 12;
        for limit in [64 << 20, 256 << 20] {
            let (mut input, mut pool) = (Input::default(), BufferPool::default());
            let (mut last_moved, mut capacity) = (0, 0);
            while input.filled <= limit {
                input.want((input.filled / WORD_BYTES + 1) * WORD_BYTES);
                let filled = input.filled;
                let room = input.room(READ_BYTES, &mut pool).len();
                input.fill(room);
                if std::mem::replace(&mut capacity, input.bytes.capacity()) != capacity {
                    last_moved = filled;
                }
            }
            assert!(last_moved <= limit / 4 + limit / 16, "{last_moved} at {limit}");
        }
    }

    #[test]
    fn a_large_claim_is_believed_one_step_at_a_time() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        let mut total = 0;
        while total < 1 << 20 {
            input.want(512 << 20);
            let room = input.room(READ_MAX, &mut pool).len();
            assert!(input.memory_bytes() <= total + READ_MAX);
            assert!(input.bytes.capacity() <= 2 * GROWTH * total.max(BUFFER_BYTES));
            input.fill(room);
            total += room;
        }
    }

    /// What can happen to an input.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// Some of the room is filled.
        Read(usize),
        /// A request of this many bytes is parsed; it may be changed in place.
        Parse {
            bytes: usize,
            changes: bool,
        },
        /// Bytes behind what is parsed are removed.
        Remove {
            skipped: usize,
            bytes: usize,
        },
        /// The request at hand is not wholly there.
        Want(usize),
        /// This many requests run.
        Run(usize),
        Rewind,
        /// The turn ends: what has not run is rewound.
        End,
        Compact,
        Shrink,
    }

    fn step() -> impl Strategy<Value = Step> {
        let bytes = prop_oneof![8 => 1..200usize, 1 => 1..100_000usize];
        prop_oneof![
            3 => bytes.clone().prop_map(Step::Read),
            6 => (bytes.clone(), any::<bool>())
                .prop_map(|(bytes, changes)| Step::Parse { bytes, changes }),
            1 => (0..50usize, bytes.clone())
                .prop_map(|(skipped, bytes)| Step::Remove { skipped, bytes }),
            1 => bytes.prop_map(Step::Want),
            3 => (1..4usize).prop_map(Step::Run),
            1 => Just(Step::Rewind),
            2 => Just(Step::End),
            1 => Just(Step::Compact),
            1 => Just(Step::Shrink),
        ]
    }

    /// All that a client has ever sent and nobody has removed, in plain vectors.
    #[derive(Debug, Default)]
    struct Model {
        sent: Vec<u8>,
        /// Bytes that it has sent.
        read: usize,
        /// What has been changed in place, the rest as it came.
        shown: Vec<u8>,
        consumed: usize,
        /// Where the requests end that are parsed and have not run.
        ends: Vec<usize>,
    }

    impl Model {
        fn parsed(&self) -> usize {
            self.ends.last().copied().unwrap_or(self.consumed)
        }

        fn rewind(&mut self) {
            self.ends.clear();
            self.shown.copy_from_slice(&self.sent);
        }
    }

    fn take(step: Step, input: &mut Input, model: &mut Model, pool: &mut BufferPool) {
        match step {
            Step::Read(bytes) => {
                let room = input.room(READ_MAX, pool);
                assert!(!room.is_empty());
                let bytes = bytes.min(room.len());
                let news = (0..bytes).map(|at| (model.read + at) as u8);
                room[..bytes].iter_mut().zip(news).for_each(|(to, byte)| *to = byte);
                model.read += bytes;
                model.sent.extend_from_slice(&room[..bytes]);
                model.shown.extend_from_slice(&room[..bytes]);
                input.fill(bytes);
            }
            Step::Parse { bytes, changes } => {
                let (start, at) = (input.parsed(), model.parsed());
                let bytes = bytes.min(model.sent.len() - at);
                if bytes == 0 {
                    return;
                }
                if changes {
                    input.keep(start..start + bytes);
                    input.bytes_mut()[start..start + bytes].fill(b'#');
                    model.shown[at..at + bytes].fill(b'#');
                }
                input.pass_to(start + bytes);
                model.ends.push(at + bytes);
            }
            Step::Remove { skipped, bytes } => {
                let left = model.sent.len() - model.parsed();
                let skipped = skipped.min(left);
                let bytes = bytes.min(left - skipped);
                let (start, at) = (input.parsed() + skipped, model.parsed() + skipped);
                input.remove(start..start + bytes);
                model.sent.drain(at..at + bytes);
                model.shown.drain(at..at + bytes);
            }
            Step::Want(bytes) if !input.is_parsed() => {
                input.want(bytes);
                assert!(!input.is_parsable());
            }
            Step::Want(_) => {}
            Step::Run(count) => {
                for end in model.ends.drain(..count.min(model.ends.len())) {
                    let bytes = end - model.consumed;
                    *input.for_running().1 += bytes;
                    model.consumed = end;
                }
            }
            Step::Rewind => {
                input.rewind();
                model.rewind();
            }
            Step::End => {
                input.rewind();
                model.rewind();
                input.forget_originals();
                input.release(pool);
            }
            Step::Compact => input.compact(pool),
            Step::Shrink => input.shrink(),
        }
    }

    /// Thousands that are refused would each take new memory else.
    #[test]
    fn the_buffer_of_one_that_ends_is_for_others() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        feed(&mut input, &mut pool, b"PUT /v1/strings/k HTTP/1.1\r\n");
        input.want(100);
        input.end(&mut pool);
        assert_eq!((pool.idle_count(), input.memory_bytes(), input.pending()), (1, 0, 0));
    }

    /// A front may make several requests of one, whose bytes go with the last of them.
    #[test]
    fn what_a_request_was_is_kept_until_all_of_it_has_run() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        input.room(READ_MAX, &mut pool)[..4].copy_from_slice(b"abcd");
        input.fill(4);
        input.keep(0..2);
        input.bytes_mut()[..2].fill(b'#');
        input.pass_to(0);
        input.forget_originals();
        assert_eq!(input.bytes(), b"##cd");
        input.rewind();
        assert_eq!(input.bytes(), b"abcd");
    }

    proptest! {
        #[test]
        fn an_input_shows_what_was_sent_whatever_becomes_of_its_buffer(
            steps in vec(step(), 1..60),
        ) {
            let (mut input, mut model) = (Input::default(), Model::default());
            let mut pool = BufferPool::default();
            for step in steps {
                take(step, &mut input, &mut model, &mut pool);
                prop_assert_eq!(&input.bytes()[input.consumed..], &model.shown[model.consumed..]);
                prop_assert_eq!(input.pending(), model.sent.len() - model.consumed);
                prop_assert_eq!(input.parsed - input.consumed, model.parsed() - model.consumed);
                prop_assert_eq!(input.is_parsed(), model.parsed() == model.sent.len());
                prop_assert!(input.pending() > 0 || input.originals.places.len() <= 60);
            }
        }
    }
}
