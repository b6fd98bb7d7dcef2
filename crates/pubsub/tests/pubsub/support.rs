//! Sinks that note what they are given.

use basalt_pubsub::{
    Address, Congested, Delivery, Kind, Matched, Outbox, PubSub, Sink, SinkId, WhenFull,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What tests publish: the text, and the pattern through which it came.
pub type Text = (String, Option<String>);

/// Notes what it is given.
#[derive(Default)]
pub struct Notebook {
    pub deliveries: Mutex<Vec<Delivery<Text>>>,
    pub batches: AtomicUsize,
    pub congested: AtomicBool,
}

impl Sink<Text> for Notebook {
    fn take(&self, deliveries: &mut Vec<Delivery<Text>>) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.deliveries.lock().append(deliveries);
    }

    fn is_congested(&self) -> bool {
        self.congested.load(Ordering::Relaxed)
    }
}

impl Notebook {
    /// A sink of `pubsub`.
    pub fn join(pubsub: &PubSub<Text>) -> (Arc<Notebook>, SinkId) {
        let notebook = Arc::new(Notebook::default());
        let id = pubsub.add_sink(Arc::clone(&notebook) as Arc<dyn Sink<Text>>);
        (notebook, id)
    }

    /// Place and text of everything so far, in order.
    pub fn texts(&self) -> Vec<(u32, String)> {
        let deliveries = self.deliveries.lock();
        let of = |delivery: &Delivery<Text>| {
            let text = delivery.body.0.clone();
            let places: Vec<u32> = delivery.subscribers.iter().map(|s| s.place).collect();
            places.into_iter().map(move |place| (place, text.clone()))
        };
        deliveries.iter().flat_map(of).collect()
    }
}

pub fn at(sink: SinkId, place: u32) -> Address {
    Address { sink, place }
}

/// Publishes to a channel.
pub fn publish(
    pubsub: &PubSub<Text>,
    outbox: &mut Outbox<Text>,
    kind: Kind,
    channel: &str,
    text: &str,
) -> Result<usize, Congested> {
    let mut body = |matched: Matched<'_>| {
        let pattern = match matched {
            Matched::Channel => None,
            Matched::Pattern(name) => Some(String::from_utf8_lossy(name).into_owned()),
        };
        (text.to_owned(), pattern)
    };
    pubsub.publish(outbox, kind, channel.as_bytes(), WhenFull::Refuse, &mut body)
}
