//! Where messages for a test's connection arrive.

use basalt_pubsub::Sink;
use basalt_service::push::{Delivery, Push};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keeps messages until the test reads them.
pub struct Inbox(pub Mutex<Vec<Delivery>>, AtomicUsize);

impl Inbox {
    /// From this number of messages on it is behind.
    #[allow(dead_code, reason = "not every user of this file has subscribers that are behind")]
    pub fn is_congested_with(&self, messages: usize) {
        self.1.store(messages, Ordering::Relaxed);
    }
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox(Mutex::default(), AtomicUsize::new(usize::MAX))
    }
}

impl Sink<Push> for Inbox {
    fn take(&self, deliveries: &mut Vec<Delivery>) {
        self.0.lock().append(deliveries);
    }

    fn is_congested(&self) -> bool {
        self.0.lock().len() >= self.1.load(Ordering::Relaxed)
    }
}
