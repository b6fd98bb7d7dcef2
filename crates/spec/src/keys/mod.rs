//! Which words of a call are keys, and what is done to them.
//!
//! Redis describes it twice: by three integers (`first`, `last`, `step`) that fit most commands,
//! and by *key specifications*, each of which finds one run of keys: first where it begins (at an
//! index, after a keyword), then how far it goes (up to a word, or as many as a number says). Both
//! derive from the synopsis; an author states only what is done to each run, by [`KeyUse`].

mod derive;
mod extract;
mod key_spec;
mod range;

pub use derive::KeyPlaceError;
pub(crate) use derive::assign;
pub use extract::{KeysError, Words};
pub(crate) use extract::{LeastKeys, OptionWords, Search, option_words};
pub use key_spec::{BeginSearch, FindKeys, KeyFlag, KeyFlags, KeySpec, KeyUse};
pub use range::KeyRange;
pub(crate) use range::summarize;
