//! Requests and replies of a client that waits for each.

use std::io::BufRead;

use crate::error::BenchError;

/// Appends a request.
pub(crate) fn write_request(words: &[&str], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
}

/// Reads a reply and appends the texts and numbers in it, in their order.
pub(crate) fn read_reply(
    stream: &mut impl BufRead,
    texts: &mut Vec<String>,
) -> Result<(), BenchError> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let (kind, rest) = line.trim_end().split_at_checked(1).ok_or_else(|| unexpected("the end"))?;
    let count = || rest.parse::<i64>().map_err(|_| unexpected(&line));
    match kind {
        "*" => {
            for _ in 0..count()? {
                read_reply(stream, texts)?;
            }
        }
        "$" => {
            if let Ok(len) = usize::try_from(count()?) {
                let mut bytes = vec![0; len + 2];
                stream.read_exact(&mut bytes)?;
                texts.push(String::from_utf8_lossy(&bytes[..len]).into_owned());
            }
        }
        "-" => return Err(unexpected(rest)),
        _ => texts.push(rest.to_owned()),
    }
    Ok(())
}

/// A server answers something else than was asked for.
pub(crate) fn unexpected(reply: &str) -> BenchError {
    BenchError::Handshake { command: "queue".into(), reply: reply.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_reply_come_in_their_order() {
        let mut reply = &b"*2\r\n*3\r\n$1\r\nq\r\n$3\r\n0-1\r\n:5\r\n$-1\r\n+OK\r\n"[..];
        let mut texts = Vec::new();
        read_reply(&mut reply, &mut texts).expect("a reply");
        assert_eq!(texts, ["q", "0-1", "5"]);
        read_reply(&mut reply, &mut texts).expect("another one");
        assert!(read_reply(&mut &b"-ERR no\r\n"[..], &mut texts).is_err());
    }
}
