//! The user of a cache: GETs in short pipelines, each followed by SETs of what was not there.

use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::compare::tier::known::{key, request, value};
use crate::error::BenchError;
use crate::target::{Client, ReadWrite, Socket, Target};

/// GETs that are sent together.
const PIPELINE: usize = 20;
/// SETs that are sent together to fill a server.
const FILL_PIPELINE: u64 = 200;

/// A client of a cache.
pub(super) struct User {
    socket: Socket,
    /// Of the keys that it sets.
    ttl: Option<Duration>,
    value_bytes: usize,
}

/// What it has asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    gets: u64,
    hits: u64,
    pub(super) refused: u64,
    seconds: f64,
}

impl Asked {
    pub(super) fn hit_ratio(&self) -> f64 {
        self.hits as f64 / self.gets.max(1) as f64
    }

    pub(super) fn gets_per_second(&self) -> f64 {
        self.gets as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }
}

impl User {
    pub(super) fn connect(
        target: &Target,
        ttl: Option<Duration>,
        value_bytes: usize,
    ) -> Result<User, BenchError> {
        Ok(User { socket: Client::connect(target)?.into_socket(), ttl, value_bytes })
    }

    /// Sets keys without looking whether they are there.
    pub(super) fn set_all(&mut self, numbers: Range<u64>) -> Result<(), BenchError> {
        for from in numbers.clone().step_by(FILL_PIPELINE as usize) {
            let some: Vec<u64> = (from..numbers.end.min(from + FILL_PIPELINE)).collect();
            self.set(&some)?;
        }
        Ok(())
    }

    /// Gets keys at a pace for as long as is said; `on_round` is called between two pipelines.
    pub(super) fn ask(
        &mut self,
        next: &mut impl FnMut() -> u64,
        (gets_per_second, lasts): (f64, Duration),
        on_round: &mut impl FnMut() -> Result<(), BenchError>,
    ) -> Result<Asked, BenchError> {
        let gets = (gets_per_second * lasts.as_secs_f64()) as u64;
        let (mut asked, start) = (Asked::default(), Instant::now());
        while asked.gets < gets {
            let due = Duration::from_secs_f64(asked.gets as f64 / gets_per_second);
            std::thread::sleep(due.saturating_sub(start.elapsed()));
            let numbers: Vec<u64> = (0..PIPELINE).map(|_| next()).collect();
            let missed = self.missed(&numbers)?;
            asked.gets += numbers.len() as u64;
            asked.hits += (numbers.len() - missed.len()) as u64;
            asked.refused += self.set(&missed)?;
            on_round()?;
        }
        asked.seconds = start.elapsed().as_secs_f64();
        Ok(asked)
    }

    /// Gets keys; returns those that are not there.
    fn missed(&mut self, numbers: &[u64]) -> Result<Vec<u64>, BenchError> {
        let mut out = Vec::new();
        for &number in numbers {
            request(&[b"GET", key(number).as_bytes()], &mut out);
        }
        let mut missed = Vec::new();
        self.exchange(&out, numbers, |number, reply| {
            if reply == Reply::Nothing {
                missed.push(number);
            }
        })?;
        Ok(missed)
    }

    /// Returns how many were refused.
    fn set(&mut self, numbers: &[u64]) -> Result<u64, BenchError> {
        let (mut out, mut refused) = (Vec::new(), 0);
        let seconds = self.ttl.map(|ttl| ttl.as_secs().to_string());
        for &number in numbers {
            let (key, value) = (key(number), value(number, self.value_bytes));
            let mut words: Vec<&[u8]> = vec![b"SET", key.as_bytes(), &value];
            if let Some(seconds) = &seconds {
                words.extend([&b"EX"[..], seconds.as_bytes()]);
            }
            request(&words, &mut out);
        }
        self.exchange(&out, numbers, |_, reply| refused += u64::from(reply == Reply::Error))?;
        Ok(refused)
    }

    /// Sends requests, one for each number, and shows the replies.
    fn exchange(
        &mut self,
        requests: &[u8],
        numbers: &[u64],
        mut each: impl FnMut(u64, Reply),
    ) -> Result<(), BenchError> {
        let stream = self.socket.stream();
        stream.write_all(requests)?;
        let mut reader: BufReader<&mut dyn ReadWrite> = BufReader::new(stream);
        for &number in numbers {
            each(number, Reply::read(&mut reader)?);
        }
        Ok(())
    }
}

/// A reply to GET or SET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    /// A value, or that all is well.
    Something,
    Nothing,
    Error,
}

impl Reply {
    fn read(from: &mut impl BufRead) -> Result<Reply, BenchError> {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let length = line.strip_prefix('$').map(str::trim_end);
        match length {
            Some("-1") => return Ok(Reply::Nothing),
            Some(digits) => {
                let bytes: u64 = digits.parse().map_err(|_| unexpected(&line))?;
                std::io::copy(&mut from.take(bytes + 2), &mut std::io::sink())?;
                return Ok(Reply::Something);
            }
            None => {}
        }
        match line.as_bytes().first() {
            Some(b'+') => Ok(Reply::Something),
            Some(b'-') => Ok(Reply::Error),
            Some(_) => Err(unexpected(&line)),
            None => Err(BenchError::Closed { outstanding: 1 }),
        }
    }
}

fn unexpected(line: &str) -> BenchError {
    BenchError::Handshake { command: "GET or SET".into(), reply: line.trim_end().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_told_apart_and_values_are_passed_over() {
        let mut from = &b"$2\r\n$-\r\n$-1\r\n+OK\r\n-OOM no room\r\n$0\r\n\r\n"[..];
        let replies: Vec<Reply> =
            (0..5).map(|_| Reply::read(&mut from).expect("it is one")).collect();
        use Reply::{Error, Nothing, Something};
        assert_eq!(replies, [Something, Nothing, Something, Error, Something]);
        assert!(Reply::read(&mut from).is_err(), "the end is no reply");
        assert!(Reply::read(&mut &b"*1\r\n"[..]).is_err());
    }
}
