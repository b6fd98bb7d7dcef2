//! DEBUG PROTOCOL: one reply of each type, for the authors of client libraries.

use basalt_resp::{Protocol, Reply};
use basalt_service::args::Args;
use basalt_service::error::CommandError;

const UNKNOWN_TYPE: CommandError = CommandError::fixed(
    "ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|\
     null|array|set|map|attrib|push|verbatim|true|false",
);

#[expect(clippy::approx_constant, reason = "the number that Redis replies")]
pub(super) fn protocol(args: &Args<'_>, reply: &mut Reply<'_>) -> Result<(), CommandError> {
    let kind = args.word(2).to_ascii_lowercase();
    match &kind[..] {
        b"string" => reply.bulk(b"Hello World"),
        b"integer" => reply.integer(12345),
        b"double" => reply.double(3.141),
        b"bignum" => reply.big_number("1234567999999999999999999999999999999"),
        b"null" => reply.null(),
        b"array" => {
            reply.array(3);
            (0..3).for_each(|number| reply.integer(number));
        }
        b"set" => {
            reply.set(3);
            (0..3).for_each(|number| reply.integer(number));
        }
        b"map" => {
            reply.map(3);
            for number in 0..3 {
                reply.integer(number);
                reply.boolean(number == 1);
            }
        }
        b"attrib" => attribute(reply),
        b"push" => return push(reply),
        b"verbatim" => reply.verbatim(*b"txt", b"This is a verbatim\nstring"),
        b"true" => reply.boolean(true),
        b"false" => reply.boolean(false),
        _ => return Err(UNKNOWN_TYPE),
    }
    Ok(())
}

/// RESP2 has no attributes: only the reply itself is sent.
fn attribute(reply: &mut Reply<'_>) {
    if reply.protocol() == Protocol::Resp3 {
        reply.raw(b"|1\r\n");
        reply.bulk(b"key-popularity");
        reply.array(2);
        reply.bulk(b"key:123");
        reply.integer(90);
    }
    reply.bulk(b"Some real reply following the attribute");
}

fn push(reply: &mut Reply<'_>) -> Result<(), CommandError> {
    if reply.protocol() == Protocol::Resp2 {
        return Err(CommandError::fixed("ERR RESP2 is not supported by this command"));
    }
    reply.push(2);
    reply.bulk(b"server-cpu-usage");
    reply.integer(42);
    // A push is no reply: the client still waits for one.
    reply.bulk(b"Some real reply following the push reply");
    Ok(())
}
