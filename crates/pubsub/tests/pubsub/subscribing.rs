//! Subscribing, its end, and what the registry then knows; compared with plain sets.

use crate::support::{Notebook, Text, at, publish};
use basalt_pubsub::{Kind, Left, Outbox, PubSub, Subscriptions};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn a_message_for_an_earlier_subscription_is_not_for_a_later_one() {
    let pubsub: PubSub<Text> = PubSub::new(1);
    let (notebook, sink) = Notebook::join(&pubsub);
    let mut subscriber = Subscriptions::new(at(sink, 1));
    let mut outbox = Outbox::default();
    assert!(subscriber.subscribe(&pubsub, Kind::Channel, b"c"));
    assert!(!subscriber.subscribe(&pubsub, Kind::Channel, b"c"));
    assert_eq!(publish(&pubsub, &mut outbox, Kind::Channel, "c", "early"), Ok(1));
    outbox.flush(&pubsub);
    let holds = |subscriber: &Subscriptions| {
        let deliveries = notebook.deliveries.lock();
        let delivery = deliveries.last().expect("one was published");
        subscriber.holds(delivery.kind, &delivery.name, delivery.subscribers[0].serial)
    };
    assert!(holds(&subscriber));
    assert!(subscriber.unsubscribe(&pubsub, Kind::Channel, b"c"));
    assert!(!subscriber.unsubscribe(&pubsub, Kind::Channel, b"c"));
    assert!(!holds(&subscriber));
    subscriber.subscribe(&pubsub, Kind::Channel, b"c");
    assert!(!holds(&subscriber));
}

#[test]
fn many_subscriptions_end_bit_by_bit() {
    const CHANNELS: usize = 1_000;
    let pubsub: PubSub<Text> = PubSub::new(1);
    let (_, sink) = Notebook::join(&pubsub);
    let mut subscriber = Subscriptions::new(at(sink, 0));
    for number in 0..CHANNELS {
        let kind = Kind::ALL[number % Kind::ALL.len()];
        subscriber.subscribe(&pubsub, kind, number.to_string().as_bytes());
    }
    let count = || Kind::ALL.iter().map(|&kind| pubsub.count(kind)).sum::<usize>();
    assert_eq!(count(), CHANNELS);
    let mut leaving = subscriber.leave();
    let mut left = CHANNELS;
    while leaving.go_on(&pubsub, 64) == Left::Some {
        left -= 64;
        assert_eq!(count(), left);
    }
    assert_eq!(count(), 0);
}

proptest! {
    #[test]
    fn the_registry_agrees_with_plain_sets(
        steps in prop::collection::vec((0usize..4, 0usize..3, 0u8..6, any::<bool>()), 0..200),
    ) {
        let pubsub: PubSub<Text> = PubSub::new(1);
        let (_, sink) = Notebook::join(&pubsub);
        let (_, other) = Notebook::join(&pubsub);
        let address = |who: usize| at(if who.is_multiple_of(2) { sink } else { other }, who as u32);
        let mut subscribers: Vec<_> = (0..4).map(|who| Subscriptions::new(address(who))).collect();
        let mut model: BTreeMap<(usize, u8), BTreeSet<usize>> = BTreeMap::new();
        for (who, kind, name, subscribes) in steps {
            let members = model.entry((kind, name)).or_default();
            if subscribes {
                prop_assert_eq!(
                    subscribers[who].subscribe(&pubsub, Kind::ALL[kind], &[name]),
                    !members.contains(&who)
                );
                members.insert(who);
            } else {
                prop_assert_eq!(
                    subscribers[who].unsubscribe(&pubsub, Kind::ALL[kind], &[name]),
                    members.contains(&who)
                );
                members.remove(&who);
            }
            for (index, kind) in Kind::ALL.into_iter().enumerate() {
                let of_kind = model.iter().filter(|((of, _), _)| *of == index);
                let alive: Vec<_> = of_kind.filter(|(_, members)| !members.is_empty()).collect();
                prop_assert_eq!(pubsub.count(kind), alive.len());
                for ((_, name), members) in alive {
                    prop_assert_eq!(pubsub.subscribers(kind, &[*name]), members.len());
                }
            }
        }
    }
}
