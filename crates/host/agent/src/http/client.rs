//! Requests to one server, which is known by its certificate, or by its name.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mptcplab_measure::client::{asking_meanwhile, reach};
use mptcplab_measure::tls::{client_config, client_config_of_roots};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

use super::answer::{Answer, Decoder};
use super::roots::system_roots;
use crate::Error;
use crate::enrolment::{NoEnrolment, Server};

/// Time for a server's addresses to be found, and for one of them to answer.
const TIME_TO_REACH: Duration = Duration::from_secs(40);
/// Time for a request without a body.
const TIME_TO_ANSWER: Duration = Duration::from_secs(60);
/// Body that goes within a second over the slowest path that is waited for.
const SLOWEST_BYTES: usize = 8_000;
/// Time between two questions whether to go on.
const SLICE: Duration = Duration::from_millis(200);
const PIECE_BYTES: usize = 16 << 10;

/// A request.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Its method.
    pub method: &'static str,
    /// Its path, which begins with a slash.
    pub path: &'a str,
    /// The secret that authorises it.
    pub secret: &'a str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// Its body, which is JSON; none where there is none.
    pub body: Option<&'a [u8]>,
}

/// Sends requests to one server.
pub struct Client {
    config: Arc<ClientConfig>,
    url: String,
    host: String,
    port: u16,
    /// The system's root certificates vouch for it; else it has a certificate that is known.
    is_public: bool,
    kept: Option<Connection>,
}

struct Connection {
    tls: ClientConnection,
    stream: TcpStream,
}

/// A socket until a time, while the caller goes on.
struct Limited<'a> {
    stream: &'a TcpStream,
    until: Instant,
    goes_on: &'a mut dyn FnMut() -> bool,
}

impl Client {
    /// For a server.
    ///
    /// # Errors
    /// An address or a fingerprint that is none, and a system without root certificates where they
    /// are needed.
    pub fn new(server: &Server) -> Result<Self, Error> {
        let (host, port) = server.place()?;
        let fingerprint = server.fingerprint_bytes()?;
        let config = match fingerprint {
            Some(fingerprint) => client_config(fingerprint),
            None => client_config_of_roots(system_roots()?),
        };
        let mut config = config.map_err(|error| Error::Unreached(error.to_string()))?;
        // A connection is rare, and memory is little.
        config.resumption = Resumption::disabled();
        Ok(Self {
            config: Arc::new(config),
            url: server.url.clone(),
            host: host.to_owned(),
            port,
            is_public: fingerprint.is_none(),
            kept: None,
        })
    }

    /// Closes the connection that is kept for further requests.
    pub fn close(&mut self) {
        self.kept = None;
    }

    /// Sends a request, and gives its answer. `goes_on` is asked several times a second.
    ///
    /// # Errors
    /// A server that cannot be reached, is another one, or does not speak HTTP; a request that took
    /// too long, or that the caller has stopped.
    pub fn send(
        &mut self,
        request: &Request<'_>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Answer, Error> {
        let head = self.head(request);
        let body = request.body.unwrap_or_default();
        let longest = TIME_TO_ANSWER + Duration::from_secs((body.len() / SLOWEST_BYTES) as u64);
        let until = Instant::now() + longest;
        if let Some(kept) = self.kept.take() {
            // The server may have closed it meanwhile.
            match kept.exchange(&head, body, until, goes_on) {
                Ok((answer, kept)) => {
                    self.kept = kept;
                    return Ok(answer);
                }
                Err(error) if error.kind() == ErrorKind::TimedOut => return Err(self.lost(error)),
                Err(_) => {}
            }
        }
        let connection = self.connect(goes_on)?;
        let done = connection.exchange(&head, body, until, goes_on);
        let (answer, kept) = done.map_err(|error| self.lost(error))?;
        self.kept = kept;
        Ok(answer)
    }

    fn head(&self, request: &Request<'_>) -> Vec<u8> {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: {host}:{}\r\nUser-Agent: mptcplab-agent/{}\r\n\
             Authorization: Bearer {}\r\nMptcplab-Protocol: {}\r\nAccept: application/json\r\n",
            request.method,
            request.path,
            self.port,
            env!("CARGO_PKG_VERSION"),
            request.secret,
            crate::api::VERSION,
        );
        if let Some(body) = request.body {
            let length = body.len();
            head += &format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
        }
        for (name, value) in &request.headers {
            head += &format!("{name}: {value}\r\n");
        }
        (head + "\r\n").into_bytes()
    }

    fn connect(&self, goes_on: &mut dyn FnMut() -> bool) -> Result<Connection, Error> {
        let (host, port) = (self.host.clone(), self.port);
        let reached = asking_meanwhile(TIME_TO_REACH, goes_on, move || reach(&host, port));
        let reached =
            reached.map_err(|error| Error::Unreached(format!("{}: {error}", self.url)))?;
        let stream = reached.map_err(|error| self.lost(error))?;
        stream.set_nodelay(true).map_err(|error| self.lost(error))?;
        let name = ServerName::try_from(self.host.clone()).map_err(|_| NoEnrolment::Url)?;
        let tls = ClientConnection::new(Arc::clone(&self.config), name);
        Ok(Connection {
            tls: tls.map_err(|error| Error::Unreached(format!("{}: {error}", self.url)))?,
            stream,
        })
    }

    fn lost(&self, error: io::Error) -> Error {
        let text = error.to_string();
        let reason = match error.kind() {
            // A clock that is wrong until it is set is a reason, too: it is tried again.
            ErrorKind::InvalidData if self.is_public && text.contains("peer certificate") => {
                return Error::Unreached(format!(
                    "{}: the system's root certificates do not vouch for its certificate: {text}",
                    self.url
                ));
            }
            ErrorKind::InvalidData if text.contains("invalid peer certificate") => {
                return Error::Refused(format!(
                    "{}: this is not the server of the token: its certificate is another one",
                    self.url
                ));
            }
            ErrorKind::TimedOut => "no answer in time",
            ErrorKind::UnexpectedEof => "the server has closed the connection",
            _ => &text,
        };
        Error::Unreached(format!("{}: {reason}", self.url))
    }
}

impl Connection {
    /// Sends a request and gives its answer, with the connection where it can carry another one.
    fn exchange(
        mut self,
        head: &[u8],
        body: &[u8],
        until: Instant,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<(Answer, Option<Self>)> {
        let mut socket = Limited {
            stream: &self.stream,
            until,
            goes_on,
        };
        let mut tls = rustls::Stream::new(&mut self.tls, &mut socket);
        let sent = tls
            .write_all(head)
            .and_then(|()| tls.write_all(body))
            .and_then(|()| tls.flush());
        let answer = match sent {
            Ok(()) => receive(&mut tls)?,
            // A server that refuses a request may answer and close before all of it has come.
            Err(error) if is_closed(&error) => receive(&mut tls).map_err(|_| error)?,
            Err(error) => return Err(error),
        };
        let kept = answer.is_kept.then_some(self);
        Ok((answer, kept))
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
    )
}

fn receive(tls: &mut impl Read) -> io::Result<Answer> {
    let invalid = |error| io::Error::new(ErrorKind::InvalidData, error);
    let mut decoder = Decoder::default();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = match tls.read(&mut piece) {
            Ok(count) => count,
            // Without an alert: an answer whose length is known is complete or not.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => 0,
            Err(error) => return Err(error),
        };
        if count == 0 || decoder.push(&piece[..count]).map_err(invalid)? {
            return decoder.end().map_err(invalid);
        }
    }
}

impl Limited<'_> {
    /// Repeats a call on the socket until it succeeds or the time is over.
    fn repeat(&mut self, mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            if !(self.goes_on)() {
                return Err(io::Error::new(ErrorKind::TimedOut, "it was stopped"));
            }
            self.stream.set_read_timeout(Some(left.min(SLICE)))?;
            self.stream.set_write_timeout(Some(left.min(SLICE)))?;
            match call() {
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                done => return done,
            }
        }
    }
}

impl Read for Limited<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        self.repeat(|| stream.read(bytes))
    }
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        self.repeat(|| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
