//! Which of the keys that a client reads are tracked (`CLIENT TRACKING`, `CLIENT CACHING`), as its
//! session knows it.

/// Which of the keys that a client reads are tracked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choosing {
    /// All.
    All,
    /// Those that it reads behind `CLIENT CACHING YES` (`OPTIN`).
    In,
    /// All but those that it reads behind `CLIENT CACHING NO` (`OPTOUT`).
    Out,
}

/// How the keys that a session reads are tracked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadTracking {
    /// Which are.
    pub choosing: Choosing,
    choice: Choice,
}

/// How far `CLIENT CACHING` has got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    /// It was not called.
    None,
    /// It was, for the next command.
    Ahead,
    /// It was, for the command that runs, or the transaction.
    Now,
}

impl ReadTracking {
    /// As it is before `CLIENT CACHING` was called.
    pub(crate) fn new(choosing: Choosing) -> ReadTracking {
        ReadTracking { choosing, choice: Choice::None }
    }

    /// Whether the keys that the command reads which runs now are tracked.
    pub fn is_on(&self) -> bool {
        match self.choosing {
            Choosing::All => true,
            Choosing::In => self.is_chosen(),
            Choosing::Out => !self.is_chosen(),
        }
    }

    /// `CLIENT CACHING` was called, and still holds.
    pub fn is_chosen(&self) -> bool {
        self.choice != Choice::None
    }

    /// `CLIENT CACHING`: the next command is an exception.
    pub fn choose(&mut self) {
        self.choice = Choice::Ahead;
    }

    /// A command begins, that is neither of the client's own affairs nor part of a transaction.
    pub fn begin(&mut self) {
        self.choice = match self.choice {
            Choice::Ahead => Choice::Now,
            Choice::Now | Choice::None => Choice::None,
        };
    }

    /// The command that was begun will begin again.
    pub fn take_back(&mut self) {
        if self.choice == Choice::Now {
            self.choice = Choice::Ahead;
        }
    }

    /// A command has come to nothing.
    pub fn end(&mut self) {
        self.choice = Choice::None;
    }
}
