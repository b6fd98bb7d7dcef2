//! Responses of the front's own, to requests for which no command runs.

use crate::console::Served;
use crate::hust::answer::Answered;
use crate::hust::talk::Profile;
use crate::problem::Problem;

/// A response without a command's reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Own {
    Problem(Problem),
    /// A short text.
    Text(&'static [u8]),
    /// JSON.
    Json(Vec<u8>),
    /// What a page with a listed origin may send: the methods of the target.
    Preflight(String),
    /// The document of the interface.
    Document(&'static [u8]),
    /// A file of the console.
    File(Served),
    /// The methods of the target.
    Methods(String),
    /// An answer of huststore's interface.
    Hust(Box<Answered>, Profile),
    /// The client may send the body.
    Continue,
}
