//! Which requests that are not wholly there are read on, of those of all fronts.
//!
//! What they may take together has a bound. If each took what is left, bodies that are
//! larger together would each hold a part of it and wait for one another for ever. So one is read
//! on only if all that hold much can still end afterwards, one behind the other, each in the room
//! that is free and that those before it have left: Dijkstra's banker.
//!
//! That is promised to those that have a seat. There are few; if all are taken, one that holds more
//! takes the place of the one that holds least. So thousands that have said a large length and sent
//! nothing stand in nobody's way. What those without a seat hold is counted by itself (`share.rs`),
//! and breaks no promise.

/// Each is looked at, at most, when a large request is to be read on.
const SEATS: usize = 64;
/// Has no seat.
const NOBODY: u64 = 0;

/// The seats.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    taken: Vec<Seat>,
    last_id: u64,
}

/// A request that is promised to end.
#[derive(Clone, Copy, Debug)]
struct Seat {
    id: u64,
    /// Bytes that it holds.
    held: usize,
    /// Bytes that it needs besides, by its client's word.
    rest: usize,
}

/// What has become of a request's wish to be read on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    Granted,
    /// It would break a promise.
    Refused,
    /// All seats are taken by requests that hold more.
    Unseated,
}

impl Seats {
    /// Whether a request may hold `held` bytes, of which it will need `rest` more, if all with a
    /// seat may hold `max`, of which `idle` are taken by buffers that nobody uses now. `id` is that
    /// of its seat, if it has or gets one.
    pub(crate) fn ask(
        &mut self,
        id: &mut Option<u64>,
        (held, rest): (usize, usize),
        (idle, max): (usize, usize),
    ) -> Wish {
        // One that says more than there is room for ends when it gets there.
        let rest = rest.min(max.saturating_sub(held));
        let own = self.taken.iter().position(|seat| Some(seat.id) == *id);
        if own.is_none() {
            // Another one may have taken its seat.
            *id = None;
        }
        let Some(place) = own.or_else(|| self.place_for(held)) else { return Wish::Unseated };
        let before = self.taken[place];
        let seat_id = own.map_or(self.last_id + 1, |_| before.id);
        self.taken[place] = Seat { id: seat_id, held, rest };
        let all: usize = idle + self.taken.iter().map(|seat| seat.held).sum::<usize>();
        if max.checked_sub(all).is_none_or(|free| !ends(&self.taken, free)) {
            self.taken[place] = before;
            self.taken.retain(|seat| seat.id != NOBODY);
            return Wish::Refused;
        }
        self.last_id = self.last_id.max(seat_id);
        *id = Some(seat_id);
        Wish::Granted
    }

    /// What a request holds by now and needs besides: its buffer may have become longer than it
    /// had asked for, if another one had used it. Returns false if another one has taken its seat.
    pub(crate) fn note(&mut self, id: u64, (held, rest): (usize, usize)) -> bool {
        let seat = self.taken.iter_mut().find(|seat| seat.id == id);
        seat.map(|seat| (seat.held, seat.rest) = (held, rest)).is_some()
    }

    /// The request is wholly there, or has gone.
    pub(crate) fn leave(&mut self, id: u64) {
        self.taken.retain(|seat| seat.id != id);
    }

    /// A free seat, or that of one that holds less.
    fn place_for(&mut self, held: usize) -> Option<usize> {
        if self.taken.len() < SEATS {
            self.taken.push(Seat { id: NOBODY, held: 0, rest: 0 });
            return Some(self.taken.len() - 1);
        }
        let (place, least) = self.taken.iter().enumerate().min_by_key(|(_, seat)| seat.held)?;
        (least.held < held).then_some(place)
    }
}

/// Whether all can end, one behind the other, if `free` bytes are free.
fn ends(seats: &[Seat], mut free: usize) -> bool {
    if seats.iter().all(|seat| seat.rest <= free) {
        return true;
    }
    let mut by_rest = [(0, 0); SEATS];
    let by_rest = &mut by_rest[..seats.len()];
    for (place, seat) in by_rest.iter_mut().zip(seats) {
        *place = (seat.rest, seat.held);
    }
    by_rest.sort_unstable();
    by_rest.iter().all(|&(rest, held)| {
        let fits = rest <= free;
        free = free.saturating_add(held);
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 40;

    /// Requests that are read on one byte at a time, in turn.
    struct Requests {
        seats: Seats,
        of: Vec<Request>,
    }

    struct Request {
        id: Option<u64>,
        held: usize,
        size: usize,
    }

    impl Requests {
        fn new(sizes: &[usize]) -> Requests {
            let request = |&size| Request { id: None, held: 0, size };
            Requests { seats: Seats::default(), of: sizes.iter().map(request).collect() }
        }

        /// One more byte of this one; false if it has to wait.
        fn read(&mut self, index: usize) -> bool {
            let Request { id, held, size } = &mut self.of[index];
            if self.seats.ask(id, (*held + 1, *size - *held - 1), (0, MAX)) != Wish::Granted {
                return false;
            }
            *held += 1;
            if held == size {
                if let Some(id) = id.take() {
                    self.seats.leave(id);
                }
                (*held, *size) = (0, 0);
            }
            true
        }

        /// Reads all in turn until nothing goes on; returns whether all have ended.
        fn read_all(&mut self) -> bool {
            let mut goes_on = true;
            while goes_on {
                goes_on = false;
                for index in 0..self.of.len() {
                    goes_on |= self.of[index].size > 0 && self.read(index);
                }
                assert!(self.of.iter().map(|request| request.held).sum::<usize>() <= MAX);
            }
            self.of.iter().all(|request| request.size == 0)
        }
    }

    #[test]
    fn whatever_is_larger_together_ends_nevertheless() {
        for sizes in [
            &[16, 16, 16][..],
            &[32, 32, 32],
            &[16, 32, 32],
            &[40, 40, 1, 39],
            &[5; 60],
            &[33, 7, 33, 7, 33, 7, 20, 20, 20, 1, 1, 1],
        ] {
            assert!(Requests::new(sizes).read_all(), "{sizes:?}");
        }
    }

    #[test]
    fn one_that_is_slow_stands_in_nobodys_way() {
        let mut requests = Requests::new(&[32, 16, 16, 16]);
        assert!(requests.read(0));
        for index in 1..4 {
            while requests.of[index].size > 0 {
                assert!(requests.read(index), "{index}");
            }
        }
    }

    #[test]
    fn those_that_hold_much_take_the_seats_of_those_that_hold_little() {
        let mut seats = Seats::default();
        for _ in 0..SEATS {
            assert_eq!(seats.ask(&mut None, (1, 1_000), (0, 2_000)), Wish::Granted);
        }
        let (mut id, mut unseated) = (None, None);
        assert_eq!(seats.ask(&mut unseated, (1, 1), (0, 2_000)), Wish::Unseated);
        assert_eq!(seats.ask(&mut id, (500, 500), (0, 2_000)), Wish::Granted);
        assert_eq!((unseated, id.is_some(), seats.taken.len()), (None, true, SEATS));
    }

    #[test]
    fn what_a_buffer_has_become_counts() {
        let mut seats = Seats::default();
        let mut one = None;
        assert_eq!(seats.ask(&mut one, (1, 30), (0, MAX)), Wish::Granted);
        assert!(seats.note(one.unwrap(), (31, 0)));
        assert_eq!(seats.ask(&mut None, (10, 0), (0, MAX)), Wish::Refused);
        assert_eq!(seats.ask(&mut None, (9, 0), (1, MAX)), Wish::Refused);
        assert_eq!(seats.ask(&mut None, (9, 20), (0, MAX)), Wish::Granted);
    }

    #[test]
    fn a_seat_that_is_refused_is_as_it_was() {
        let mut seats = Seats::default();
        let mut one = None;
        assert_eq!(seats.ask(&mut one, (20, 15), (0, MAX)), Wish::Granted);
        assert_eq!(seats.ask(&mut None, (10, 15), (0, MAX)), Wish::Refused);
        assert_eq!(seats.ask(&mut None, (21, 0), (0, MAX)), Wish::Refused);
        assert_eq!(seats.taken.len(), 1);
        assert_eq!(seats.ask(&mut one, (30, 5), (0, MAX)), Wish::Granted);
        // More than there is room for is not waited for.
        seats.leave(one.unwrap());
        assert_eq!(seats.ask(&mut None, (1, 500), (0, MAX)), Wish::Granted);
    }
}
