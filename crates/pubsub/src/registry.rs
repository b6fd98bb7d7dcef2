//! HOT PATH
//! The server's subscriptions, and publishing to them.
//!
//! ```text
//! PUBLISH ▸ who has subscribed to the channel, to a pattern that fits it   short read locks
//!         ▸ is a sink behind with what it has?                             one load a sink
//!         ▸ one delivery a sink, into the thread's outbox                  nothing is shared yet
//! ```

use crate::audience::{Address, Audience, Party, Serial, SinkId, Subscription};
use crate::channels::Channels;
use crate::outbox::{Congested, Delivery, Gathering, Outbox, Sink, WhenFull};
use basalt_stdx::glob::{Case, Pattern};
use basalt_stdx::lock_rank::LeafRwLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What is subscribed to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A channel.
    Channel,
    /// All channels that fit a pattern.
    Pattern,
    /// A sharded channel.
    ShardChannel,
    /// Everything that clients do (`MONITOR`).
    Monitor,
    /// Nothing: the message is for one subscriber, and has no name.
    Direct,
}

impl Kind {
    /// All kinds of subscriptions.
    pub const ALL: [Kind; 4] = [Kind::Channel, Kind::Pattern, Kind::ShardChannel, Kind::Monitor];
}

/// Why subscribers get a message: its body depends on that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matched<'a> {
    /// They have subscribed to its channel.
    Channel,
    /// They have subscribed to this pattern.
    Pattern(&'a [u8]),
}

/// All subscriptions of a server. Messages are `M`.
pub struct PubSub<M> {
    channels: Channels,
    shard_channels: Channels,
    monitors: Channels,
    patterns: Patterns,
    serials: AtomicU64,
    sinks: LeafRwLock<Vec<Arc<dyn Sink<M>>>>,
}

/// Patterns: all of them are tried with each message.
#[derive(Debug, Default)]
struct Patterns {
    by_name: LeafRwLock<HashMap<Arc<[u8]>, Subscribed>>,
    names: AtomicUsize,
}

#[derive(Debug)]
struct Subscribed {
    pattern: Pattern,
    audience: Audience,
}

/// The subscribers that get a message for one reason.
struct Found {
    kind: Kind,
    name: Arc<[u8]>,
    parties: std::ops::Range<usize>,
}

impl<M> PubSub<M> {
    /// Nobody has subscribed to anything; `seed` is for the hashes of channel names.
    pub fn new(seed: u64) -> PubSub<M> {
        PubSub {
            channels: Channels::new(seed),
            shard_channels: Channels::new(seed),
            monitors: Channels::new(seed),
            patterns: Patterns::default(),
            serials: AtomicU64::new(0),
            sinks: LeafRwLock::default(),
        }
    }

    /// Adds a thread that has subscribers.
    ///
    /// # Panics
    /// If there are 65,535 of them.
    pub fn add_sink(&self, sink: Arc<dyn Sink<M>>) -> SinkId {
        let mut sinks = self.sinks.write();
        let id = u16::try_from(sinks.len()).ok().filter(|id| *id < SinkId::NOWHERE.0);
        sinks.push(sink);
        SinkId(id.expect("there are fewer threads than that"))
    }

    pub(crate) fn sink(&self, id: SinkId) -> Option<Arc<dyn Sink<M>>> {
        self.sinks.read().get(usize::from(id.0)).cloned()
    }

    /// Whether some sink is behind with what it has to hand on.
    pub fn is_congested(&self) -> bool {
        self.sinks.read().iter().any(|sink| sink.is_congested())
    }

    /// Bytes of messages on their way to all subscribers, about.
    pub fn waiting_bytes(&self) -> usize {
        self.sinks.read().iter().map(|sink| sink.waiting_bytes()).sum()
    }

    /// Puts a message into `outbox` for everyone who has subscribed to `channel`, of the kind
    /// `Channel`, `ShardChannel` or `Monitor`; returns how many that are. `body` makes the message
    /// once for each reason why somebody gets it, and not at all if nobody does.
    ///
    /// # Errors
    /// A sink is behind, and `when_full` says that this matters: nothing has been published.
    #[inline]
    pub fn publish(
        &self,
        outbox: &mut Outbox<M>,
        kind: Kind,
        channel: &[u8],
        when_full: WhenFull,
        body: &mut dyn FnMut(Matched<'_>) -> M,
    ) -> Result<usize, Congested> {
        let without_patterns = kind != Kind::Channel || self.patterns.len() == 0;
        if without_patterns && self.table(kind).is_none_or(|table| table.len() == 0) {
            return Ok(0);
        }
        self.publish_to_some(outbox, kind, channel, when_full, body)
    }

    fn publish_to_some(
        &self,
        outbox: &mut Outbox<M>,
        kind: Kind,
        channel: &[u8],
        when_full: WhenFull,
        body: &mut dyn FnMut(Matched<'_>) -> M,
    ) -> Result<usize, Congested> {
        let mut parties = std::mem::take(&mut outbox.parties);
        let mut reasons = Vec::new();
        if let Some(table) = self.table(kind)
            && let Some(name) = table.find(channel, &mut parties)
        {
            reasons.push(Found { kind, name, parties: 0..parties.len() });
        }
        if kind == Kind::Channel {
            self.patterns.find(channel, &mut parties, &mut reasons);
        }
        let is_congested = |party: &Party| outbox.is_congested(self, party.sink);
        let result = if when_full == WhenFull::Refuse && parties.iter().any(is_congested) {
            Err(Congested)
        } else {
            for Found { kind, name, parties: range } in reasons {
                let matched = match kind {
                    Kind::Pattern => Matched::Pattern(&name),
                    Kind::Channel | Kind::ShardChannel | Kind::Monitor | Kind::Direct => {
                        Matched::Channel
                    }
                };
                let body = Arc::new(body(matched));
                for Party { sink, subscribers } in &parties[range] {
                    let (name, body) = (Arc::clone(&name), Arc::clone(&body));
                    let subscribers = Arc::clone(subscribers);
                    outbox.put(*sink, Delivery { kind, name, subscribers, body });
                }
            }
            Ok(parties.iter().map(|party| party.subscribers.len()).sum())
        };
        parties.clear();
        outbox.parties = parties;
        outbox.flush_if_full(self);
        result
    }

    /// Where bytes may be appended for everyone who has subscribed to `channel`, of the kind
    /// `Channel`, `ShardChannel` or `Monitor`; `None` if nobody has. They come in order with
    /// everything else that is published through `outbox`, however far behind a sink is. `wrap`
    /// makes a message of what was appended one after the other.
    #[inline]
    pub fn gather<'a>(
        &self,
        outbox: &'a mut Outbox<M>,
        kind: Kind,
        channel: &[u8],
        wrap: fn(Vec<u8>) -> M,
    ) -> Option<&'a mut Vec<u8>> {
        // Read before the subscribers are looked up: one that comes meanwhile is looked for again.
        // Relaxed, as the count of channels is.
        let made_before = self.serials.load(Ordering::Relaxed);
        if !outbox.gathers(kind, channel, made_before) {
            outbox.close_gathered();
            outbox.flush_if_full(self);
            let mut parties = Vec::new();
            let name = self.table(kind)?.find(channel, &mut parties)?;
            outbox.gather(Gathering { kind, name, parties, made_before, wrap });
        }
        Some(outbox.gathered())
    }

    /// Puts a message for one subscriber into `outbox`. `number` is what the subscriber knows
    /// itself by.
    pub fn send(&self, outbox: &mut Outbox<M>, to: Address, number: Serial, body: Arc<M>) {
        let subscription = Subscription { place: to.place, serial: number };
        let (name, subscribers) = (Arc::default(), Arc::new(vec![subscription]));
        outbox.put(to.sink, Delivery { kind: Kind::Direct, name, subscribers, body });
        outbox.flush_if_full(self);
    }

    /// Whether a subscriber's sink is behind.
    pub fn is_behind(&self, outbox: &Outbox<M>, at: Address) -> bool {
        outbox.is_congested(self, at.sink)
    }

    /// The table of a kind of channel.
    fn table(&self, kind: Kind) -> Option<&Channels> {
        match kind {
            Kind::Channel => Some(&self.channels),
            Kind::ShardChannel => Some(&self.shard_channels),
            Kind::Monitor => Some(&self.monitors),
            Kind::Pattern | Kind::Direct => None,
        }
    }

    pub(crate) fn subscribe(
        &self,
        kind: Kind,
        name: &[u8],
        address: Address,
    ) -> (Arc<[u8]>, Serial) {
        match self.table(kind) {
            Some(table) => table.subscribe(name, address, &self.serials),
            None => self.patterns.subscribe(name, address, &self.serials),
        }
    }

    pub(crate) fn unsubscribe(&self, kind: Kind, name: &[u8], sink: SinkId, serial: Serial) {
        match self.table(kind) {
            Some(table) => table.unsubscribe(name, sink, serial),
            None => self.patterns.unsubscribe(name, sink, serial),
        }
    }

    /// How many channels or patterns have subscribers.
    pub fn count(&self, kind: Kind) -> usize {
        self.table(kind).map_or_else(|| self.patterns.len(), Channels::len)
    }

    /// How many have subscribed to a channel or a pattern.
    pub fn subscribers(&self, kind: Kind, name: &[u8]) -> usize {
        match self.table(kind) {
            Some(table) => table.subscribers(name),
            None => self.patterns.by_name.read().get(name).map_or(0, |it| it.audience.len()),
        }
    }

    /// Channels with subscribers that fit a pattern, or all, in no order.
    pub fn names(&self, kind: Kind, pattern: Option<&[u8]>) -> Vec<Arc<[u8]>> {
        let pattern = pattern.map(|pattern| Pattern::new(pattern, Case::Differs));
        let wanted = |name: &[u8]| pattern.as_ref().is_none_or(|pattern| pattern.matches(name));
        self.table(kind).map(|table| table.names(&wanted)).unwrap_or_default()
    }
}

impl Patterns {
    #[inline]
    fn len(&self) -> usize {
        // Relaxed, as the count of channels is.
        self.names.load(Ordering::Relaxed)
    }

    fn subscribe(&self, name: &[u8], address: Address, serials: &AtomicU64) -> (Arc<[u8]>, Serial) {
        let pattern = Pattern::new(name, Case::Differs);
        let mut by_name = self.by_name.write();
        let serial = Serial(serials.fetch_add(1, Ordering::Relaxed));
        let shared = by_name.get_key_value(name).map(|(shared, _)| Arc::clone(shared));
        let shared = shared.unwrap_or_else(|| name.into());
        let subscribed = by_name
            .entry(Arc::clone(&shared))
            .or_insert_with(|| Subscribed { pattern, audience: Audience::default() });
        subscribed.audience.add(address, serial);
        self.names.store(by_name.len(), Ordering::Relaxed);
        (shared, serial)
    }

    fn unsubscribe(&self, name: &[u8], sink: SinkId, serial: Serial) {
        let mut by_name = self.by_name.write();
        let Some(subscribed) = by_name.get_mut(name) else { return };
        subscribed.audience.remove(sink, serial);
        if subscribed.audience.is_empty() {
            by_name.remove(name);
            self.names.store(by_name.len(), Ordering::Relaxed);
            if by_name.len() < by_name.capacity() / 4 {
                let room = by_name.len() * 2;
                by_name.shrink_to(room);
            }
        }
    }

    /// Collects the subscribers of patterns that fit `channel`.
    fn find(&self, channel: &[u8], parties: &mut Vec<Party>, reasons: &mut Vec<Found>) {
        if self.len() == 0 {
            return;
        }
        for (name, subscribed) in &*self.by_name.read() {
            if subscribed.pattern.matches(channel) {
                let start = parties.len();
                parties.extend_from_slice(subscribed.audience.parties());
                let parties = start..parties.len();
                reasons.push(Found { kind: Kind::Pattern, name: Arc::clone(name), parties });
            }
        }
    }
}
