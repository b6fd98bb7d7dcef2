//! Sending events of keys to the channels that tell of them.

use crate::push::{Outbox, PubSub, Push};
use crate::tracking::Trackers;
use basalt_config::Config;
use basalt_engine::{EventClasses, EventSink, Gate, KeyEvent, OutdatedCopies};
use basalt_pubsub::{Kind, WhenFull};
use std::fmt::Write;
use std::sync::Arc;

/// Where events of keys go, and what they wait for.
pub struct Announcement<'a> {
    /// The channels.
    pub pubsub: &'a PubSub,
    /// Which events are told, and to which channels.
    pub classes: EventClasses,
    /// What the messages wait for.
    pub after: &'a Gate,
}

impl Announcement<'_> {
    /// Sends one event to the channels that tell of it.
    pub fn announce(&self, event: &KeyEvent, outbox: &mut Outbox) {
        let KeyEvent { db, name, key } = event;
        let mut channel = String::new();
        if self.classes.by_key() {
            // Writing to a string cannot fail.
            let _ = write!(channel, "__keyspace@{db}__:");
            let mut channel = std::mem::take(&mut channel).into_bytes();
            channel.extend_from_slice(key);
            self.send(&channel, name.as_bytes(), outbox);
        }
        if self.classes.by_event() {
            let _ = write!(channel, "__keyevent@{db}__:{name}");
            self.send(channel.as_bytes(), key, outbox);
        }
    }

    fn send(&self, channel: &[u8], payload: &[u8], outbox: &mut Outbox) {
        let kind = Kind::Channel;
        // What has happened cannot wait: commands that cause events wait before they run.
        let _ = self.pubsub.publish(outbox, kind, channel, WhenFull::Exceed, &mut |matched| {
            Push::new(kind, channel, payload, matched, self.after.clone())
        });
    }
}

/// Announces what happens without a command.
pub(crate) struct Announcer {
    config: Arc<Config>,
    pubsub: Arc<PubSub>,
    trackers: Arc<Trackers>,
}

impl Announcer {
    pub fn new(config: Arc<Config>, pubsub: Arc<PubSub>, trackers: Arc<Trackers>) -> Announcer {
        Announcer { config, pubsub, trackers }
    }
}

impl EventSink for Announcer {
    fn classes(&self) -> EventClasses {
        EventClasses::from_letters(&self.config.settings().server.key_event_letters)
    }

    fn publish(&self, events: &mut Vec<KeyEvent>, after: &Gate) {
        let classes = self.classes();
        let announcement = Announcement { pubsub: &self.pubsub, classes, after };
        let mut outbox = Outbox::default();
        for event in events.drain(..) {
            announcement.announce(&event, &mut outbox);
        }
        outbox.flush(&self.pubsub);
    }

    fn tell_outdated(&self, copies: &OutdatedCopies, after: &Gate) {
        let mut outbox = Outbox::default();
        self.trackers.tell(&self.pubsub, copies, after, &mut outbox);
        outbox.flush(&self.pubsub);
    }
}
