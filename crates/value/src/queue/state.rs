//! What a message can be.

/// Where a message is. The numbers stand in rows and edits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// It can be delivered.
    Ready = 0,
    /// It is held back for a time.
    Delayed = 1,
    /// A consumer holds it.
    Leased = 2,
    /// It was delivered too often, or given up.
    Dead = 3,
}

impl State {
    /// All states.
    pub const ALL: [State; 4] = [State::Ready, State::Delayed, State::Leased, State::Dead];

    /// What commands call it.
    pub fn name(self) -> &'static str {
        match self {
            State::Ready => "ready",
            State::Delayed => "delayed",
            State::Leased => "leased",
            State::Dead => "dead",
        }
    }
}
