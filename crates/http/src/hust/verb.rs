//! A line of the table of verbs.

use super::answer::Answered;
use super::given::Given;
use super::talk::Talk;
use basalt_http1::Method;

/// What a verb makes of a request: a talk, or the answer at once.
pub(crate) type Start = fn(&Given<'_>) -> Result<Box<dyn Talk>, Answered>;

/// One verb.
#[derive(Debug)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// The methods that a node takes, and that the front takes.
    pub(crate) node: Methods,
    pub(crate) front: Methods,
    /// It changes something: a page must not have a browser send it.
    pub(crate) is_write: bool,
    pub(crate) start: Start,
}

/// Which methods are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Methods {
    Get,
    Post,
    GetPost,
    GetPutPost,
}

impl Methods {
    pub(crate) fn take(self, method: Method) -> bool {
        match method {
            Method::Get => self != Methods::Post,
            Method::Post => self != Methods::Get,
            Method::Put => self == Methods::GetPutPost,
            _ => false,
        }
    }

    /// As `Allow` says them.
    pub(crate) fn allow(self) -> &'static str {
        match self {
            Methods::Get => "GET",
            Methods::Post => "POST",
            Methods::GetPost => "GET, POST",
            Methods::GetPutPost => "GET, PUT, POST",
        }
    }
}
