//! Requests, from a client's point of view.

use crate::reply::{put_header, put_plain_bulk};

/// Appends the request of these arguments to `out`, as an array of bulk strings.
pub fn encode_request<A: AsRef<[u8]>>(args: &[A], out: &mut Vec<u8>) {
    put_header(out, b'*', args.len() as u64);
    for arg in args {
        put_plain_bulk(out, arg.as_ref());
    }
}
