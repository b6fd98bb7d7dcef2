//! Another server, which a command asks: a connection and a thread for each call.
//!
//! Whatever the other server does, the client that waits is answered: finding and connecting take
//! the call's time at most, and so do each reply and each part of what is sent. A name is looked up
//! on a thread of its own, since the system's look-up cannot be ended: it is waited for no longer
//! than that, and counts as a call under way until it comes back.

use basalt_env::Clock;
use basalt_service::peer::{Answered, PeerAnswers, PeerCall, PeerFailure};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Calls that may be under way at a time: each has a thread, and one more while it looks a name up.
const CALLS_MAX: usize = 64;
/// Bytes that are to be taken within the call's time, as in Redis.
const PART_BYTES: usize = 64 << 10;
/// Bytes of a reply's line.
const LINE_BYTES_MAX: usize = 64 << 10;

/// The addresses of a host at a port; it may take as long as it likes.
type LookUp = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// How other servers are asked, and how many calls are under way.
pub(crate) struct Peers {
    under_way: Arc<AtomicUsize>,
    clock: Arc<dyn Clock>,
    look_up: Arc<LookUp>,
}

/// One call, as long as some thread works for it.
struct Call(Arc<AtomicUsize>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Peers {
    /// None is asked yet.
    pub(crate) fn new(clock: &Arc<dyn Clock>) -> Peers {
        let look_up = |host: &str, port| Ok((host, port).to_socket_addrs()?.collect());
        Peers { under_way: Arc::default(), clock: Arc::clone(clock), look_up: Arc::new(look_up) }
    }

    /// Asks on a thread of its own. If there can be none, the server counts as out of reach.
    pub(crate) fn ask(&self, call: PeerCall, answered: Answered) {
        let unreachable =
            PeerAnswers { replies: Vec::new(), failure: Some(PeerFailure::Connecting) };
        let under_way = self.under_way.fetch_add(1, Ordering::Relaxed);
        let guard = Arc::new(Call(Arc::clone(&self.under_way)));
        if under_way >= CALLS_MAX {
            return answered(unreachable);
        }
        let (clock, look_up) = (Arc::clone(&self.clock), Arc::clone(&self.look_up));
        let asking = Asking { call, clock, look_up, guard };
        let answered = Arc::new(parking_lot::Mutex::new(Some(answered)));
        let theirs = Arc::clone(&answered);
        let spawned = basalt_env::thread::spawn("peer", move || {
            let answers = asking.ask();
            drop(asking);
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

/// A call on its thread.
struct Asking {
    call: PeerCall,
    clock: Arc<dyn Clock>,
    look_up: Arc<LookUp>,
    guard: Arc<Call>,
}

impl Asking {
    fn ask(&self) -> PeerAnswers {
        let call = &self.call;
        let mut answers = PeerAnswers::default();
        let Some(mut stream) = self.connect() else {
            answers.failure = Some(PeerFailure::Connecting);
            return answers;
        };
        if let Err(error) = self.send(&mut stream) {
            // It may have answered before it closed the connection.
            if error.kind() != ErrorKind::BrokenPipe && error.kind() != ErrorKind::ConnectionReset {
                answers.failure = Some(PeerFailure::Writing);
                return answers;
            }
        }
        let mut reader = BufReader::new(stream);
        while answers.replies.len() < call.count {
            match self.reply(&mut reader) {
                Some(reply) => answers.replies.push(reply),
                None => {
                    answers.failure = Some(PeerFailure::Reading);
                    break;
                }
            }
        }
        answers
    }

    /// Tries all addresses of the host, as long as there is time.
    fn connect(&self) -> Option<TcpStream> {
        let began = self.clock.now();
        for address in self.addresses()? {
            let left = self.time_left(began)?;
            let Ok(stream) = TcpStream::connect_timeout(&address, left) else { continue };
            // Without it the requests are only later.
            let _ = stream.set_nodelay(true);
            return Some(stream);
        }
        None
    }

    /// What the call's time has left since `began`, unless it is over.
    fn time_left(&self, began: basalt_env::Instant) -> Option<Duration> {
        let left = self.call.timeout.checked_sub(self.clock.since(began))?;
        (!left.is_zero()).then_some(left)
    }

    fn addresses(&self) -> Option<Vec<SocketAddr>> {
        let PeerCall { host, port, timeout, .. } = &self.call;
        if let Ok(ip) = host.parse::<IpAddr>() {
            return Some(vec![SocketAddr::new(ip, *port)]);
        }
        let (found, finding) = mpsc::channel();
        let (look_up, guard) = (Arc::clone(&self.look_up), Arc::clone(&self.guard));
        let (host, port) = (host.clone(), *port);
        let spawned = basalt_env::thread::spawn("peer-name", move || {
            let addresses = look_up(&host, port);
            drop(guard);
            // If nobody waits any more, nobody wants to know.
            let _ = found.send(addresses);
        });
        if let Err(error) = spawned {
            tracing::warn!(%error, "no thread to look up the name of another server");
            return None;
        }
        finding.recv_timeout(*timeout).ok()?.ok()
    }

    fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        for part in self.call.requests.chunks(PART_BYTES) {
            let began = self.clock.now();
            let mut rest = part;
            while !rest.is_empty() {
                let left = self.time_left(began).ok_or(ErrorKind::TimedOut)?;
                stream.set_write_timeout(Some(left))?;
                match stream.write(rest) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(taken) => rest = &rest[taken..],
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// One reply, which is a line: all that is asked is answered so.
    fn reply(&self, reader: &mut BufReader<TcpStream>) -> Option<Result<(), String>> {
        let line = self.line(reader)?;
        let line = line.strip_suffix(b"\r\n")?;
        match line.split_first()? {
            (b'+', _) => Some(Ok(())),
            (b'-', error) => Some(Err(String::from_utf8_lossy(error).into_owned())),
            _ => None,
        }
    }

    /// A line and its end, if it comes in time: a server that sends byte by byte gains none.
    fn line(&self, reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
        let began = self.clock.now();
        let mut line = Vec::new();
        while line.len() < LINE_BYTES_MAX {
            if reader.buffer().is_empty() {
                reader.get_ref().set_read_timeout(Some(self.time_left(began)?)).ok()?;
            }
            let part = match reader.fill_buf() {
                Ok([]) => return None,
                Ok(part) => part,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return None,
            };
            let end = part.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(part.len(), |end| end + 1);
            line.extend_from_slice(&part[..taken]);
            reader.consume(taken);
            if end.is_some() {
                return Some(line);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_env::SystemClock;
    use parking_lot::Mutex;
    use std::net::{Ipv4Addr, TcpListener};

    /// No test waits for as long.
    const LONG: Duration = Duration::from_secs(60);

    fn peers(look_up: Arc<LookUp>) -> Peers {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        Peers { look_up, ..Peers::new(&clock) }
    }

    fn call(host: &str, port: u16, timeout: Duration) -> PeerCall {
        PeerCall { host: host.to_owned(), port, timeout, requests: b"PING\r\n".to_vec(), count: 1 }
    }

    fn ask(peers: &Peers, call: PeerCall) -> mpsc::Receiver<PeerAnswers> {
        let (sender, receiver) = mpsc::channel();
        peers.ask(call, Box::new(move |answers| drop(sender.send(answers))));
        receiver
    }

    /// A server of one client, and its port.
    fn server(serve: impl FnOnce(TcpStream) + Send + 'static) -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        std::thread::spawn(move || serve(listener.accept().expect("a client").0));
        port
    }

    #[test]
    fn a_name_that_is_looked_up_for_ever_is_not_waited_for() {
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let peers = peers(Arc::new(move |_: &str, _| {
            let _ = held.lock().recv();
            Ok(Vec::new())
        }));
        let answers = ask(&peers, call("slow.invalid", 1, Duration::from_millis(20)));
        let answers = answers.recv_timeout(LONG).expect("it is answered");
        assert_eq!(answers.failure, Some(PeerFailure::Connecting));
        // The look-up still has its thread, so it counts.
        assert_eq!(peers.under_way.load(Ordering::Relaxed), 1);
        drop(release);
        while peers.under_way.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn look_ups_that_do_not_end_use_up_the_calls_and_no_more() {
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let peers = peers(Arc::new(move |_: &str, _| {
            let _ = held.lock().recv();
            Ok(Vec::new())
        }));
        let hanging: Vec<_> = (0..CALLS_MAX).map(|_| call("slow.invalid", 1, LONG)).collect();
        let hanging: Vec<_> = hanging.into_iter().map(|call| ask(&peers, call)).collect();
        // It would be found: it is not looked for.
        let refused = ask(&peers, call("127.0.0.1", 1, LONG)).recv_timeout(LONG);
        assert_eq!(refused.expect("at once").failure, Some(PeerFailure::Connecting));
        drop(release);
        for answers in hanging {
            answers.recv_timeout(LONG).expect("nothing was found");
        }
        while peers.under_way.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_name_that_is_found_is_asked_at_all_its_addresses() {
        let port = server(|mut stream| stream.write_all(b"+PONG\r\n").expect("it listens"));
        let peers = peers(Arc::new(move |name: &str, _| {
            assert_eq!(name, "some.invalid");
            // Nobody listens at the first.
            let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
            Ok(vec![nobody, SocketAddr::from((Ipv4Addr::LOCALHOST, port))])
        }));
        let answers = ask(&peers, call("some.invalid", port, LONG)).recv_timeout(LONG);
        assert_eq!(answers, Ok(PeerAnswers { replies: vec![Ok(())], failure: None }));
    }

    #[test]
    fn an_address_is_not_looked_up() {
        let port = server(|mut stream| stream.write_all(b"-ERR no\r\n").expect("it listens"));
        let peers = peers(Arc::new(|_: &str, _| panic!("it is an address")));
        let answers = ask(&peers, call("127.0.0.1", port, LONG)).recv_timeout(LONG);
        let replies = vec![Err("ERR no".to_owned())];
        assert_eq!(answers, Ok(PeerAnswers { replies, failure: None }));
    }

    #[test]
    fn requests_that_are_not_taken_in_time_are_not_waited_for() {
        let (release, held) = mpsc::channel::<()>();
        let port = server(move |stream| {
            let _ = held.recv();
            drop(stream);
        });
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let peers = Peers::new(&clock);
        // More than the buffers of the system have room for.
        let requests = vec![b'x'; 64 << 20];
        let call = PeerCall { requests, ..call("127.0.0.1", port, Duration::from_millis(100)) };
        let answers = ask(&peers, call).recv_timeout(LONG).expect("it is answered");
        assert_eq!(answers.failure, Some(PeerFailure::Writing));
        drop(release);
    }

    #[test]
    fn a_reply_that_comes_byte_by_byte_has_the_time_of_one() {
        let port = server(|mut stream| {
            while stream.write_all(b"+").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let peers = Peers::new(&clock);
        let answers = ask(&peers, call("127.0.0.1", port, Duration::from_millis(100)));
        let answers = answers.recv_timeout(LONG).expect("it does not wait for the end of the line");
        assert_eq!(answers.failure, Some(PeerFailure::Reading));
    }
}
