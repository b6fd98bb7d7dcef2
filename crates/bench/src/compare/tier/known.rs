//! Keys whose values follow from their numbers, so that each can be told to be right.

use crate::error::BenchError;
use crate::random::Random;
use crate::target::{Client, ReadWrite, Target};

/// Requests that are sent before their replies are read.
const PIPELINE: u64 = 200;

pub(super) fn value(number: u64, bytes: usize) -> Vec<u8> {
    format!("{number:016}").bytes().cycle().take(bytes).collect()
}

pub(super) fn key(number: u64) -> String {
    format!("known:{number:012}")
}

pub(super) fn request(words: &[&[u8]], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// Sets all of them.
pub(super) fn fill(target: &Target, keys: u64, bytes: usize) -> Result<(), BenchError> {
    let mut socket = Client::connect(target)?.into_socket();
    let stream = socket.stream();
    let (mut out, mut from) = (Vec::new(), 0);
    while from < keys {
        let to = (from + PIPELINE).min(keys);
        out.clear();
        for number in from..to {
            request(&[b"SET", key(number).as_bytes(), &value(number, bytes)], &mut out);
        }
        stream.write_all(&out)?;
        for _ in from..to {
            expect(stream, b"+OK\r\n")?;
        }
        from = to;
    }
    Ok(())
}

/// Gets some by chance; returns how many were not as they were set.
pub(super) fn wrong(
    target: &Target,
    (keys, bytes): (u64, usize),
    count: usize,
    random: &mut Random,
) -> Result<usize, BenchError> {
    let mut client = Client::connect(target)?;
    let mut wrong = 0;
    for _ in 0..count {
        let number = random.below(keys);
        wrong += usize::from(client.call(&["GET", &key(number)])? != bulk(&value(number, bytes)));
    }
    Ok(wrong)
}

fn bulk(value: &[u8]) -> Vec<u8> {
    let mut reply = format!("${}\r\n", value.len()).into_bytes();
    reply.extend_from_slice(value);
    reply.extend_from_slice(b"\r\n");
    reply
}

fn expect(stream: &mut dyn ReadWrite, reply: &[u8]) -> Result<(), BenchError> {
    let mut got = vec![0; reply.len()];
    stream.read_exact(&mut got)?;
    if got == reply {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&got).into_owned();
    Err(BenchError::Usage(format!("the server refused a SET: {text}…")))
}
