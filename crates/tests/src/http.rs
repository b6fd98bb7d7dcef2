//! The least of a client that speaks HTTP: requests as text, responses taken apart.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

/// How long a response may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection that speaks HTTP.
pub struct HttpClient {
    stream: BufReader<TcpStream>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names, in lower case, and values.
    pub fields: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// The value of a field, by its name in lower case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.0 == name).map(|field| field.1.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl HttpClient {
    /// Connects.
    ///
    /// # Errors
    /// Nobody listens.
    pub fn open(address: SocketAddr) -> io::Result<HttpClient> {
        HttpClient::over(TcpStream::connect(address)?)
    }

    /// Connects from an address of its own.
    ///
    /// # Errors
    /// Nobody listens, or the machine has no such address.
    pub fn open_from(source: IpAddr, address: SocketAddr) -> io::Result<HttpClient> {
        let kind = rustix::net::SocketType::STREAM;
        let family = rustix::net::AddressFamily::INET;
        let socket = rustix::net::socket(family, kind, None)?;
        rustix::net::bind(&socket, &SocketAddr::new(source, 0))?;
        rustix::net::connect(&socket, &address)?;
        HttpClient::over(TcpStream::from(socket))
    }

    fn over(stream: TcpStream) -> io::Result<HttpClient> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(HttpClient { stream: BufReader::new(stream) })
    }

    /// Another handle of the same connection, to send by.
    ///
    /// # Errors
    /// There are no descriptors left.
    pub fn try_clone(&self) -> io::Result<HttpClient> {
        Ok(HttpClient { stream: BufReader::new(self.stream.get_ref().try_clone()?) })
    }

    /// How long a response may take to come, and bytes to go.
    ///
    /// # Errors
    /// It is no time at all.
    pub fn set_patience(&self, patience: Duration) -> io::Result<()> {
        let stream = self.stream.get_ref();
        stream.set_write_timeout(Some(patience))?;
        stream.set_read_timeout(Some(patience))
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The server has gone.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes.as_ref())
    }

    /// Sends a request with a body, if that is not empty, and more fields, each with its line end.
    ///
    /// # Errors
    /// The server has gone.
    pub fn request(&mut self, line: &str, fields: &str, body: &[u8]) -> io::Result<()> {
        let length = match body.len() {
            0 => String::new(),
            length => format!("Content-Length: {length}\r\n"),
        };
        let head = format!("{line} HTTP/1.1\r\nHost: localhost\r\n{fields}{length}\r\n");
        self.send([head.as_bytes(), body].concat())
    }

    /// Sends a request and waits for its response.
    ///
    /// # Panics
    /// If there is none.
    pub fn ask(&mut self, line: &str, fields: &str, body: &[u8]) -> Response {
        self.request(line, fields, body).expect("the server takes a request");
        let method = line.split(' ').next().unwrap_or_default();
        self.response_to(method).expect("a response")
    }

    /// Waits for the response to a GET.
    ///
    /// # Errors
    /// There is none.
    pub fn response(&mut self) -> io::Result<Response> {
        self.response_to("GET")
    }

    /// Waits for the response to a request with this method.
    ///
    /// # Errors
    /// There is none.
    pub fn response_to(&mut self, method: &str) -> io::Result<Response> {
        let mut response = self.head()?;
        let has_body = method != "HEAD" && !matches!(response.status, 100 | 101 | 204 | 304);
        if has_body {
            let length = response.field("content-length").and_then(|length| length.parse().ok());
            response.body = vec![0; length.ok_or_else(|| io::Error::other("no Content-Length"))?];
            self.stream.read_exact(&mut response.body)?;
        }
        Ok(response)
    }

    /// Waits for the head of a response, whose body is the caller's to read.
    ///
    /// # Errors
    /// There is none.
    pub fn head(&mut self) -> io::Result<Response> {
        let wrong = |text: &str| io::Error::other(text.to_owned());
        let line = self.line()?;
        let code = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
        let status = code.and_then(|code| code.parse().ok()).ok_or_else(|| wrong(&line))?;
        let mut fields = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| wrong(&line))?;
            fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Response { status, fields, body: Vec::new() })
    }

    /// Asks for server-sent events; returns the head of the response.
    ///
    /// # Panics
    /// If there is none.
    pub fn ask_for_events(&mut self, line: &str, fields: &str) -> Response {
        let fields = format!("Accept: text/event-stream\r\n{fields}");
        self.request(line, &fields, b"").expect("the server takes a request");
        self.head().expect("the head of a response")
    }

    /// Waits for the next server-sent event, or a comment: its lines.
    ///
    /// # Errors
    /// There is none.
    pub fn event(&mut self) -> io::Result<String> {
        let mut event = String::new();
        loop {
            let mut line = String::new();
            match self.stream.read_line(&mut line)? {
                0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                1 => return Ok(event),
                _ => event.push_str(&line),
            }
        }
    }

    /// Its socket, and what has come and was not read.
    pub fn into_parts(self) -> (TcpStream, Vec<u8>) {
        let rest = self.stream.buffer().to_vec();
        (self.stream.into_inner(), rest)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let line = line.strip_suffix("\r\n");
        line.map(str::to_owned).ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }

    /// Waits for the end; returns how many bytes came before it.
    ///
    /// # Errors
    /// It does not come.
    pub fn read_to_end(&mut self) -> io::Result<usize> {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(rest.len()),
            result => result,
        }
    }
}
