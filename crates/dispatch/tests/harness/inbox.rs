//! Where messages for a test's connection arrive.

use basalt_pubsub::Sink;
use basalt_service::push::{Delivery, Push};
use parking_lot::Mutex;

/// Keeps messages until the test reads them.
#[derive(Default)]
pub struct Inbox(pub Mutex<Vec<Delivery>>);

impl Sink<Push> for Inbox {
    fn take(&self, deliveries: &mut Vec<Delivery>) {
        self.0.lock().append(deliveries);
    }

    fn is_congested(&self) -> bool {
        false
    }
}
