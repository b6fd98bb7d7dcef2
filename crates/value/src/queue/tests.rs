//! Random runs against a vector of messages. After each step the edits make an equal queue of a
//! copy, and the rows of what was noted as changed are those of the whole queue; now and then the
//! encoding is read back, and the rows are.

mod garbage;
mod limits;
mod naive;

use super::*;
use crate::dirty::{DirtyElements, Keeping};
use crate::limits::FormLimits;
use naive::{Canary, NaivePut, NaiveQueue};
use std::collections::BTreeMap;

/// Runs of [`STEPS`]; `BASALT_QUEUE_RUNS` makes more.
const RUNS: u64 = if cfg!(miri) { 2 } else { 200 };
const STEPS: usize = if cfg!(miri) { 60 } else { 400 };

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// A queue, its judge, and what becomes of its edits and rows.
struct World {
    queue: Queue,
    copy: Queue,
    judge: NaiveQueue,
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
    dirty: DirtyElements,
    edits: Vec<u8>,
    tokens: Vec<Token>,
    now_ms: u64,
    random: Random,
    puts: u64,
}

type Found = Result<(), String>;

fn same<T: PartialEq + std::fmt::Debug>(what: &str, there: T, wanted: T) -> Found {
    // Bodies may be long.
    let short = |value: &T| format!("{value:?}").chars().take(800).collect::<String>();
    match there == wanted {
        true => Ok(()),
        false => Err(format!("{what}: {}, wanted {}", short(&there), short(&wanted))),
    }
}

fn parts(queue: &Queue) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    queue.visit_parts(&mut |part| parts.push(part.to_vec()));
    parts.sort();
    parts
}

impl World {
    fn new(seed: u64, canary: Canary) -> World {
        World {
            queue: Queue::new(),
            copy: Queue::new(),
            judge: NaiveQueue::new(canary),
            rows: BTreeMap::new(),
            dirty: DirtyElements::new(Keeping::Contents),
            edits: Vec::new(),
            tokens: Vec::new(),
            now_ms: 1_000_000,
            random: Random(seed),
            puts: 0,
        }
    }

    /// Does the same to the queue, noting everything.
    fn change<R>(&mut self, change: impl FnOnce(&mut Queue, &mut Edits<'_>) -> R) -> R {
        self.edits.clear();
        let mut edits = Edits::to(&mut self.edits).noting(Some(&mut self.dirty));
        change(&mut self.queue, &mut edits)
    }

    fn settings(&mut self) -> Settings {
        let mut some =
            |bound: u64| if self.random.chance(2) { 0 } else { self.random.below(bound) };
        Settings {
            lease_ms: 1 + some(80),
            deliveries_max: some(4),
            max: some(60),
            max_bytes: 40 * some(80),
            full: if some(2) == 0 { Full::Reject } else { Full::DropOldest },
            inflight_max: some(6),
            paused: match some(9) {
                1 => Paused::Put,
                2 => Paused::Get,
                3 => Paused::All,
                _ => Paused::Nothing,
            },
            overdue_first: some(3) == 1,
            dedup_window_ms: some(300),
            dedup_max: some(5),
            durable: some(3) == 1,
        }
    }

    fn put(&mut self) -> Found {
        let random = &mut self.random;
        let lane = LaneNumber::new(if random.chance(2) { 4 } else { random.below(10) }).unwrap();
        self.puts += 1;
        let mut body = format!("body {}", self.puts).into_bytes();
        if random.chance(8) {
            let len = if random.chance(20) { 20_000 } else { 900 };
            body.resize(random.below(len) as usize, b'x');
        }
        let delay_ms = if random.chance(4) { random.below(100) } else { 0 };
        let ttl_ms = if random.chance(4) { random.below(150) } else { u64::MAX };
        let name = format!("name {}", random.below(6)).into_bytes();
        let window_ms = random.chance(3).then(|| random.below(200));
        let dedup = random.chance(6).then_some(&name[..]);
        let now_ms = self.now_ms;
        let naive = NaivePut {
            lane,
            body: &body,
            delay_ms,
            ttl_ms,
            dedup: dedup.map(|name| (name, window_ms)),
        };
        let wanted = self.judge.put(&naive, now_ms);
        let dedup = dedup.map(|name| Dedup { name, window_ms });
        let message = NewMessage { lane, body: &body, delay_ms, ttl_ms, dedup };
        let there = self.change(|queue, edits| queue.put(&message, now_ms, edits));
        let there = there.map(|put| match put {
            Put::New(id) | Put::Known(id) => id,
        });
        same("put", there.map_err(|refused| refused == Refused::Locked), wanted)
    }

    fn deliver(&mut self) -> Found {
        let (random, now_ms) = (&mut self.random, self.now_ms);
        let count = if random.chance(3) { random.below(12) as usize } else { 1 };
        let lease_ms = random.chance(2).then(|| random.below(120));
        let hold = if random.chance(9) { Hold::None } else { Hold::Lease(lease_ms) };
        let lease = (hold != Hold::None).then_some(lease_ms);
        let worker: &[u8] = if random.chance(2) { b"" } else { b"somebody" };
        let wanted = self.judge.deliver(count, lease, now_ms);
        let demand = Demand { count, hold, worker };
        let mut there = Vec::new();
        let has_ready = self.queue.has_ready(now_ms);
        let delivered = self.change(|queue, edits| {
            queue.deliver(&demand, now_ms, edits, &mut |it| {
                there.push((it.token, it.body.to_vec(), it.deliveries, it.put_ms));
            })
        });
        if hold != Hold::None {
            self.tokens.extend(there.iter().map(|delivery| delivery.0));
        }
        same("delivered", delivered, there.len())?;
        same("has ready", has_ready || count == 0, delivered > 0 || count == 0)?;
        same("deliveries", there, wanted)
    }

    fn token(&mut self) -> Option<Token> {
        let last = self.tokens.len().checked_sub(1)?;
        // Mostly a late one, so that there are some that are good.
        let back = if self.random.chance(4) { last as u64 + 1 } else { 8.min(last as u64 + 1) };
        Some(self.tokens[last - self.random.below(back) as usize])
    }

    fn use_token(&mut self) -> Found {
        let Some(token) = self.token() else { return Ok(()) };
        let now_ms = self.now_ms;
        let time_ms = self.random.below(60);
        match self.random.below(6) {
            0..=2 => {
                let wanted = usize::from(self.judge.acknowledge(token, now_ms));
                let there = self.change(|queue, edits| queue.acknowledge(&[token], now_ms, edits));
                same("acknowledged", there, wanted)
            }
            3 => {
                let wanted = self.judge.extend(token, time_ms, now_ms);
                let there = self.change(|queue, edits| queue.extend(token, time_ms, now_ms, edits));
                same("extended", there, wanted)
            }
            way => {
                let (to, delay_ms) = match (way, self.random.below(3)) {
                    (4, _) => (Return::Ready, Some(0)),
                    (_, 0) => (Return::Dead, None),
                    _ => (Return::Delayed(time_ms), Some(time_ms)),
                };
                let wanted = self.judge.give_back(token, delay_ms, now_ms);
                let there = self.change(|queue, edits| queue.give_back(token, to, now_ms, edits));
                same("given back", there, wanted)
            }
        }
    }

    fn manage(&mut self) -> Found {
        let now_ms = self.now_ms;
        match self.random.below(12) {
            0..=2 => {
                let settings = self.settings();
                self.judge.set_settings(settings, now_ms);
                self.change(|queue, edits| queue.set_settings(&settings, now_ms, edits));
                Ok(())
            }
            3..=7 => {
                let dead = self.judge.messages.iter().filter(|it| it.state == State::Dead);
                let ids: Vec<MessageId> = dead.map(|it| it.id).take(2).collect();
                let all = self.random.chance(2);
                let wanted = self.judge.revive((!all).then_some(&ids), now_ms);
                let which = if all { Revived::All } else { Revived::Named(&ids) };
                let there = self.change(|queue, edits| queue.revive(which, now_ms, edits));
                same("revived", there, wanted)
            }
            8 => {
                let states = [State::ALL[self.random.below(4) as usize]];
                let lane = LaneNumber::new(self.random.below(12));
                let wanted = self.judge.purge(&states, lane, now_ms);
                let there = self.change(|queue, edits| queue.purge(&states, lane, now_ms, edits));
                same("purged", there, wanted)
            }
            9 if !self.judge.messages.is_empty() => {
                let nth = self.random.below(self.judge.messages.len() as u64) as usize;
                let id = self.judge.messages[nth].id;
                let wanted = self.judge.withdraw(id, now_ms);
                let there = self.change(|queue, edits| queue.withdraw(id, now_ms, edits));
                same("withdrawn", there, wanted)
            }
            _ => {
                self.judge.pass(now_ms);
                let is_due = self.queue.next_expiry_ms() <= self.queue.native().time(now_ms);
                let settled = self.change(|queue, edits| queue.settle(now_ms, SETTLED_MAX, edits));
                same("settled", settled, is_due)
            }
        }
    }

    /// A step of the run; then everything is compared.
    fn step(&mut self) -> Found {
        if self.random.chance(2) {
            self.now_ms += self.random.below(30);
        } else if self.queue.native().clock_ms == self.now_ms && self.random.chance(20) {
            // The queue knows what time it was.
            self.now_ms -= self.random.below(60);
        }
        self.edits.clear();
        match self.random.below(20) {
            0..=7 => self.put(),
            8..=12 => self.deliver(),
            13..=18 => self.use_token(),
            _ => self.manage(),
        }?;
        let edits = std::mem::take(&mut self.edits);
        let applied = self.copy.apply(&edits, &FormLimits::default());
        self.edits = edits;
        same("the edits are taken", applied, Ok(()))?;
        self.note_rows();
        self.compare()
    }

    fn note_rows(&mut self) {
        for element in self.dirty.take(Keeping::Contents) {
            let mut content = Vec::new();
            if self.queue.put_content(&element.name, &mut content) {
                self.rows.insert(element.name.into(), content);
            } else {
                self.rows.remove(&*element.name);
            }
        }
    }

    fn compare(&mut self) -> Found {
        let now_ms = self.judge.pass(self.now_ms);
        let (queue, judge) = (&self.queue, &self.judge);
        let counts = queue.counts(now_ms);
        let wanted = State::ALL.map(|state| judge.count(state));
        let there = [counts.all_ready(), counts.delayed, counts.leased, counts.dead];
        same("counts", there, wanted)?;
        same("the copy", parts(&self.copy), parts(queue))?;
        // It compares its sums.
        queue.heap_bytes();
        if self.random.chance(10) {
            self.compare_messages(now_ms)?;
        }
        if self.random.chance(20) {
            let mut bytes = Vec::new();
            self.queue.encode(&mut bytes);
            self.copy =
                Queue::decode(&bytes, &FormLimits::default()).map_err(|it| it.to_string())?;
            same("the copy that was encoded", parts(&self.copy), parts(&self.queue))?;
        }
        if self.random.chance(20) {
            self.read_rows()?;
        }
        Ok(())
    }

    fn compare_messages(&self, now_ms: u64) -> Found {
        for state in State::ALL {
            let mut there = Vec::new();
            self.queue.peek(&Peek { state, from: None, count: usize::MAX }, now_ms, &mut |it| {
                let times = (it.put_ms, it.expire_ms, it.until_ms);
                there.push((it.id, it.body.to_vec(), it.deliveries, times));
            });
            let messages = self.judge.messages.iter().filter(|it| it.state == state);
            let mut wanted: Vec<_> = messages
                .map(|it| {
                    let times = (it.put_ms, it.expire_ms, it.until_ms);
                    (it.id, it.body.clone(), it.deliveries, times)
                })
                .collect();
            wanted.sort_by_key(|it| (9 - it.0.lane().number(), it.0));
            same(state.name(), there, wanted)?;
        }
        let ready = self.judge.messages.iter().filter(|it| it.state == State::Ready);
        let oldest_ms = ready.map(|it| it.put_ms).min();
        same("oldest", self.queue.oldest_ready_ms(now_ms), oldest_ms)?;
        let bodies = self.judge.messages.iter().map(|it| it.body.len() as u64).sum::<u64>();
        if self.queue.next_expiry_ms() > now_ms {
            same("bytes", self.queue.body_bytes(), bodies)?;
            same("totals", *self.queue.totals(), self.judge.totals)?;
        }
        Ok(())
    }

    /// The rows of all that was noted as changed are those of the queue, and are read back.
    fn read_rows(&mut self) -> Found {
        let mut walked = BTreeMap::new();
        let mut place = WalkPlace::Start;
        while place != WalkPlace::End {
            place = self.queue.visit_elements(place, 3, &mut |name, content| {
                walked.insert(name.to_vec(), content.to_vec());
            });
        }
        same("the rows", &self.rows, &walked)?;
        if !self.queue.can_spread() {
            return Ok(());
        }
        let mut head = Vec::new();
        self.queue.put_head(&mut head);
        let mut read = Queue::from_head(&head).map_err(|error| error.to_string())?;
        for (name, content) in &self.rows {
            read.adopt(name, content, &FormLimits::default()).map_err(|error| error.to_string())?;
        }
        same("what was read", parts(&read), parts(&self.queue))?;
        self.copy = read;
        Ok(())
    }
}

fn run(seed: u64, canary: Canary) -> Found {
    let mut world = World::new(seed, canary);
    let settings = world.settings();
    if world.random.chance(2) {
        world.judge.set_settings(settings, world.now_ms);
        let now_ms = world.now_ms;
        world.change(|queue, edits| queue.set_settings(&settings, now_ms, edits));
        let edits = std::mem::take(&mut world.edits);
        world.copy.apply(&edits, &FormLimits::default()).unwrap();
    }
    for step in 0..STEPS {
        world.step().map_err(|found| format!("seed {seed}, step {step}: {found}"))?;
    }
    Ok(())
}

#[test]
fn a_queue_is_what_a_vector_of_messages_is() {
    let runs = std::env::var("BASALT_QUEUE_RUNS").ok().and_then(|runs| runs.parse().ok());
    for seed in 0..runs.unwrap_or(RUNS) {
        run(seed, Canary::None).unwrap();
    }
}

#[test]
fn the_judge_finds_what_is_wrong() {
    for canary in [
        Canary::AcknowledgesById,
        Canary::ReturnsToTheEnd,
        Canary::ForgetsLeases,
        Canary::ExpiresWhatIsHeld,
        Canary::BuriesByLaterSettings,
        Canary::RevivesUnforgiven,
    ] {
        let found = (0..if cfg!(miri) { 0 } else { 50 }).any(|seed| run(seed, canary).is_err());
        assert!(found || cfg!(miri), "{canary:?} was not found");
    }
}
