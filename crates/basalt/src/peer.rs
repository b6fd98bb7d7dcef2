//! Another server, which a command asks: a connection and a thread for each call.

use basalt_service::peer::{Answered, PeerAnswers, PeerCall, PeerFailure};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls that may be under way at a time: each has a thread.
const CALLS_MAX: usize = 64;
/// Bytes of a reply's line.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// How many calls are under way.
#[derive(Default)]
pub(crate) struct Peers(Arc<AtomicUsize>);

/// One of them, as long as it lives.
struct Call(Arc<AtomicUsize>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Peers {
    /// Asks on a thread of its own. If there can be none, the server counts as out of reach.
    pub(crate) fn ask(&self, call: PeerCall, answered: Answered) {
        let unreachable =
            PeerAnswers { replies: Vec::new(), failure: Some(PeerFailure::Connecting) };
        let under_way = self.0.fetch_add(1, Ordering::Relaxed);
        let guard = Call(Arc::clone(&self.0));
        if under_way >= CALLS_MAX {
            return answered(unreachable);
        }
        let answered = Arc::new(parking_lot::Mutex::new(Some(answered)));
        let theirs = Arc::clone(&answered);
        let spawned = basalt_env::thread::spawn("peer", move || {
            let answers = ask(&call);
            drop(guard);
            if let Some(answered) = theirs.lock().take() {
                answered(answers);
            }
        });
        if let Err(error) = spawned {
            tracing::warn!(%error, "no thread for a call to another server");
            if let Some(answered) = answered.lock().take() {
                answered(unreachable);
            }
        }
    }
}

fn ask(call: &PeerCall) -> PeerAnswers {
    let mut answers = PeerAnswers::default();
    let Some(mut stream) = connect(call) else {
        answers.failure = Some(PeerFailure::Connecting);
        return answers;
    };
    if let Err(error) = stream.write_all(&call.requests) {
        // It may have answered before it closed the connection.
        if error.kind() != ErrorKind::BrokenPipe && error.kind() != ErrorKind::ConnectionReset {
            answers.failure = Some(PeerFailure::Writing);
            return answers;
        }
    }
    let mut reader = BufReader::new(stream);
    while answers.replies.len() < call.count {
        match reply(&mut reader) {
            Some(reply) => answers.replies.push(reply),
            None => {
                answers.failure = Some(PeerFailure::Reading);
                break;
            }
        }
    }
    answers
}

/// Tries all addresses of the host.
fn connect(call: &PeerCall) -> Option<TcpStream> {
    let addresses = (call.host.as_str(), call.port).to_socket_addrs().ok()?;
    let mut streams = addresses.filter_map(|at| TcpStream::connect_timeout(&at, call.timeout).ok());
    let stream = streams.next()?;
    stream.set_read_timeout(Some(call.timeout)).ok()?;
    stream.set_write_timeout(Some(call.timeout)).ok()?;
    // Without it the requests are only later.
    let _ = stream.set_nodelay(true);
    Some(stream)
}

/// One reply, which is a line: all that is asked is answered so.
fn reply(reader: &mut impl BufRead) -> Option<Result<(), String>> {
    let mut line = Vec::new();
    reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    let line = line.strip_suffix(b"\r\n")?;
    match line.split_first()? {
        (b'+', _) => Some(Ok(())),
        (b'-', error) => Some(Err(String::from_utf8_lossy(error).into_owned())),
        _ => None,
    }
}
