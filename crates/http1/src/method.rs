//! Request methods (RFC 9110, section 9; PATCH: RFC 5789).

use crate::refusal::Refusal;

/// What a request asks to be done with its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Read.
    Get,
    /// Read, but answer without a body.
    Head,
    /// Whatever the target says.
    Post,
    /// Make it what the body says.
    Put,
    /// Remove.
    Delete,
    /// Change a part.
    Patch,
    /// Ask what may be asked: a browser's preflight.
    Options,
}

impl Method {
    /// The method with this name. Names have their case (RFC 9110, section 9.1).
    #[inline]
    pub(crate) fn parse(name: &str) -> Result<Method, Refusal> {
        match name {
            "GET" => Ok(Method::Get),
            "HEAD" => Ok(Method::Head),
            "POST" => Ok(Method::Post),
            "PUT" => Ok(Method::Put),
            "DELETE" => Ok(Method::Delete),
            "PATCH" => Ok(Method::Patch),
            "OPTIONS" => Ok(Method::Options),
            // A tunnel, an echo of what a browser has added by itself, and a read with a body.
            "CONNECT" | "TRACE" | "QUERY" => Err(Refusal::MethodRefused),
            _ => Err(Refusal::MethodUnknown),
        }
    }
}
