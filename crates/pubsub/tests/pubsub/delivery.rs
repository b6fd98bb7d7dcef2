//! Which subscriber gets which message, and in which order.

use crate::support::{Notebook, Text, at, publish};
use basalt_pubsub::{Congested, Kind, Outbox, PubSub, Serial, Subscriptions};
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[test]
fn a_message_reaches_channel_and_pattern_but_not_the_shard_channel() {
    let pubsub = PubSub::new(1);
    let (notebook, sink) = Notebook::join(&pubsub);
    let mut outbox = Outbox::default();
    let mut subscriber = Subscriptions::new(at(sink, 7));
    subscriber.subscribe(&pubsub, Kind::ShardChannel, b"news");
    subscriber.subscribe(&pubsub, Kind::Pattern, b"n*");
    subscriber.subscribe(&pubsub, Kind::Pattern, b"x*");
    subscriber.subscribe(&pubsub, Kind::Channel, b"news");
    assert_eq!(publish(&pubsub, &mut outbox, Kind::Channel, "news", "a"), Ok(2));
    assert_eq!(publish(&pubsub, &mut outbox, Kind::ShardChannel, "news", "b"), Ok(1));
    assert_eq!(publish(&pubsub, &mut outbox, Kind::Channel, "other", "c"), Ok(0));
    outbox.flush(&pubsub);
    let deliveries = notebook.deliveries.lock();
    let seen: Vec<_> = deliveries.iter().map(|it| (it.kind, &*it.name, &*it.body)).collect();
    let (plain, pattern) = (|text: &str| (text.to_owned(), None), Some("n*".to_owned()));
    let expected: [(Kind, &[u8], &Text); 3] = [
        (Kind::Channel, b"news", &plain("a")),
        (Kind::Pattern, b"n*", &("a".to_owned(), pattern)),
        (Kind::ShardChannel, b"news", &plain("b")),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_turn_is_handed_over_once_and_bodies_are_made_once() {
    let pubsub = PubSub::new(1);
    let (notebook, sink) = Notebook::join(&pubsub);
    let (other, other_sink) = Notebook::join(&pubsub);
    let mut subscribers: Vec<_> = (0..100)
        .map(|place| Subscriptions::new(at(if place < 60 { sink } else { other_sink }, place)))
        .collect();
    for subscriber in &mut subscribers {
        subscriber.subscribe(&pubsub, Kind::Channel, b"c");
    }
    let mut outbox = Outbox::default();
    for text in ["1", "2", "3"] {
        assert_eq!(publish(&pubsub, &mut outbox, Kind::Channel, "c", text), Ok(100));
    }
    assert!(notebook.deliveries.lock().is_empty());
    outbox.flush(&pubsub);
    assert!(outbox.is_empty());
    for (notebook, count) in [(&notebook, 60), (&other, 40)] {
        assert_eq!(notebook.batches.load(Ordering::Relaxed), 1);
        assert_eq!(notebook.deliveries.lock().len(), 3);
        assert_eq!(notebook.texts().len(), 3 * count);
    }
    let first = Arc::clone(&notebook.deliveries.lock()[0].body);
    assert!(Arc::ptr_eq(&first, &other.deliveries.lock()[0].body));
}

#[test]
fn nothing_is_published_to_a_sink_that_is_behind() {
    let pubsub = PubSub::new(1);
    let (notebook, sink) = Notebook::join(&pubsub);
    let (behind, behind_sink) = Notebook::join(&pubsub);
    let mut ready = Subscriptions::new(at(sink, 0));
    let mut slow = Subscriptions::new(at(behind_sink, 0));
    ready.subscribe(&pubsub, Kind::Channel, b"both");
    slow.subscribe(&pubsub, Kind::Channel, b"both");
    ready.subscribe(&pubsub, Kind::Channel, b"one");
    let mut outbox = Outbox::default();
    behind.congested.store(true, Ordering::Relaxed);
    assert!(pubsub.is_congested());
    assert_eq!(publish(&pubsub, &mut outbox, Kind::Channel, "both", "a"), Err(Congested));
    assert_eq!(publish(&pubsub, &mut outbox, Kind::Channel, "one", "b"), Ok(1));
    outbox.flush(&pubsub);
    assert_eq!(notebook.texts(), [(0, "b".to_owned())]);
    behind.congested.store(false, Ordering::Relaxed);
    assert_eq!(publish(&pubsub, &mut outbox, Kind::Channel, "both", "c"), Ok(2));
}

#[test]
fn each_publisher_keeps_its_order_while_subscribers_come_and_go() {
    const MESSAGES: usize = 5_000;
    let pubsub: PubSub<Text> = PubSub::new(1);
    let (notebook, sink) = Notebook::join(&pubsub);
    let mut steady = Subscriptions::new(at(sink, 0));
    steady.subscribe(&pubsub, Kind::Channel, b"c");
    std::thread::scope(|scope| {
        for publisher in 0..3 {
            let pubsub = &pubsub;
            scope.spawn(move || {
                let mut outbox = Outbox::default();
                for number in 0..MESSAGES {
                    let text = format!("{publisher} {number}");
                    publish(pubsub, &mut outbox, Kind::Channel, "c", &text).expect("there is room");
                    if number % 7 == 0 {
                        outbox.flush(pubsub);
                    }
                }
                outbox.flush(pubsub);
            });
        }
        scope.spawn(|| {
            for place in 1..2_000 {
                let mut passing = Subscriptions::new(at(sink, place));
                passing.subscribe(&pubsub, Kind::Channel, b"c");
                passing.unsubscribe(&pubsub, Kind::Channel, b"c");
            }
        });
    });
    let texts = notebook.texts();
    for publisher in 0..3 {
        let prefix = format!("{publisher} ");
        let mine = texts.iter().filter(|(place, _)| *place == 0);
        let numbers: Vec<usize> =
            mine.filter_map(|(_, text)| text.strip_prefix(&prefix)?.parse().ok()).collect();
        assert!(numbers.iter().copied().eq(0..MESSAGES), "publisher {publisher}");
    }
}

/// Appends to what is gathered for those who monitor; false if nobody does.
fn gather(pubsub: &PubSub<Text>, outbox: &mut Outbox<Text>, text: &str) -> bool {
    let wrap = |bytes| (String::from_utf8(bytes).expect("text"), None);
    let gathered = pubsub.gather(outbox, Kind::Monitor, b"", wrap);
    gathered.map(|bytes| bytes.extend_from_slice(text.as_bytes())).is_some()
}

#[test]
fn what_is_gathered_is_one_message_in_its_place() {
    let pubsub = PubSub::new(1);
    let (notebook, sink) = Notebook::join(&pubsub);
    let mut outbox = Outbox::default();
    assert!(!gather(&pubsub, &mut outbox, "nobody") && outbox.is_empty());
    let mut subscriber = Subscriptions::new(at(sink, 1));
    subscriber.subscribe(&pubsub, Kind::Monitor, b"");
    subscriber.subscribe(&pubsub, Kind::Channel, b"c");
    for text in ["a", "b", "c"] {
        assert!(gather(&pubsub, &mut outbox, text) && !outbox.is_empty());
    }
    assert_eq!(publish(&pubsub, &mut outbox, Kind::Channel, "c", "published"), Ok(1));
    gather(&pubsub, &mut outbox, "d");
    pubsub.send(&mut outbox, at(sink, 2), Serial::of_subscriber(9), text("sent"));
    gather(&pubsub, &mut outbox, "e");
    gather(&pubsub, &mut outbox, "f");
    assert!(notebook.deliveries.lock().is_empty());
    outbox.flush(&pubsub);
    assert!(outbox.is_empty());
    let expected = [(1, "abc"), (1, "published"), (1, "d"), (2, "sent"), (1, "ef")];
    assert_eq!(notebook.texts(), expected.map(|(place, text)| (place, text.to_owned())));
    outbox.flush(&pubsub);
    assert_eq!(notebook.texts().len(), expected.len());
}

fn text(text: &str) -> Arc<Text> {
    Arc::new((text.to_owned(), None))
}

#[test]
fn nothing_of_a_message_is_older_than_a_subscription() {
    let pubsub = PubSub::new(1);
    let (notebook, sink) = Notebook::join(&pubsub);
    let (other, other_sink) = Notebook::join(&pubsub);
    let mut outbox = Outbox::default();
    let mut first = Subscriptions::new(at(sink, 1));
    first.subscribe(&pubsub, Kind::Monitor, b"");
    gather(&pubsub, &mut outbox, "a");
    let mut second = Subscriptions::new(at(other_sink, 2));
    second.subscribe(&pubsub, Kind::Monitor, b"");
    gather(&pubsub, &mut outbox, "b");
    gather(&pubsub, &mut outbox, "c");
    outbox.flush(&pubsub);
    let of = |place, texts: &[&str]| -> Vec<_> {
        texts.iter().map(|text| (place, (*text).to_owned())).collect()
    };
    assert_eq!(notebook.texts(), of(1, &["a", "bc"]));
    assert_eq!(other.texts(), of(2, &["bc"]));
}

#[test]
fn what_is_gathered_is_handed_on_in_pieces_that_have_a_bound() {
    const LINES: usize = 10_000;
    let pubsub = PubSub::new(1);
    let (notebook, sink) = Notebook::join(&pubsub);
    let mut outbox = Outbox::default();
    let mut subscriber = Subscriptions::new(at(sink, 1));
    subscriber.subscribe(&pubsub, Kind::Monitor, b"");
    let lines: Vec<String> = (0..LINES).map(|number| format!("{number:099} ")).collect();
    lines.iter().for_each(|line| assert!(gather(&pubsub, &mut outbox, line)));
    outbox.flush(&pubsub);
    let texts = notebook.texts();
    let total = LINES * 100;
    assert!((total >> 16..=total >> 14).contains(&texts.len()), "{} messages", texts.len());
    assert!(texts.iter().all(|(_, text)| text.len() < 64 << 10));
    assert_eq!(texts.into_iter().map(|(_, text)| text).collect::<String>(), lines.concat());
    // A line is never cut.
    notebook.deliveries.lock().clear();
    let long = "x".repeat(1 << 20);
    for text in ["before", &long, "behind"] {
        gather(&pubsub, &mut outbox, text);
    }
    outbox.flush(&pubsub);
    let expected = [format!("before{long}"), "behind".to_owned()].map(|text| (1, text));
    assert_eq!(notebook.texts(), expected);
}
