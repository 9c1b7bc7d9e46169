//! The way to a control channel whose holder is known: the host's addresses, TLS and the proof.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::Connection;

use super::{STEP, unexpected};
use crate::Error;
use crate::channel::{Channel, Limits, SLICE, own_limit};
use crate::frame::LONGEST_ANSWER_BYTES;
use crate::message::{Answer, Request, Terms, VERSION};
use crate::tls;
use crate::token::{Token, from_hex, hex};

/// Time for the host's addresses to be found and one of them to answer.
const TIME_TO_REACH: Duration = Duration::from_secs(40);
/// Bytes of a handshake of TLS, and of each step after it, at most.
const MOST_HANDSHAKE_BYTES: u64 = 64 << 10;

/// A channel of a holder, its place, and the terms of the target.
///
/// # Errors
/// A host that is not reached or is not the target of this token, or that refuses.
pub(super) fn connect(
    host: &str,
    port: u16,
    token: &Token,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(Channel, TcpStream, Terms), Error> {
    let place = format!("{host}, port {port}");
    let name = host.to_owned();
    let reached = asking_meanwhile(TIME_TO_REACH, goes_on, move || reach(&name, port));
    let stream = reached?.map_err(Error::at(&place))?;
    let same = stream.try_clone().map_err(Error::at(&place))?;
    let tls = tls::client(token.fingerprint)
        .map_err(|error| Error::Protocol(format!("{place}: {error}")))?;
    let channel = Channel::open(Connection::from(tls), stream, step(goes_on));
    let mut channel = channel.map_err(|error| not_the_target(&place, error))?;
    let terms = prove(&mut channel, token, &place, goes_on)?;
    Ok((channel, same, terms))
}

/// Does what cannot be interrupted on a thread of its own, and asks the caller meanwhile. The thread
/// is left to itself where the caller wants no more of it.
///
/// # Errors
/// [`Error::Stopped`], and a time that is over.
pub fn asking_meanwhile<T: Send + 'static>(
    within: Duration,
    goes_on: &mut dyn FnMut() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let (sender, done) = channel();
    let until = Instant::now() + within;
    thread::spawn(move || sender.send(work()));
    loop {
        match done.recv_timeout(SLICE) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
            Err(_) => {
                return Err(Error::Request(
                    "the system took too long to answer".to_owned(),
                ));
            }
        }
        if !goes_on() {
            return Err(Error::Stopped);
        }
    }
}

/// A connection to the first of the host's addresses that answers; each has 10 s.
///
/// # Errors
/// A name without an address, and the reason of the last address that did not answer.
pub fn reach(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "no such host");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, STEP) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn step(goes_on: &mut dyn FnMut() -> bool) -> Limits<'_> {
    Limits::new(STEP, goes_on).at_most(MOST_HANDSHAKE_BYTES)
}

fn prove(
    channel: &mut Channel,
    token: &Token,
    place: &str,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Terms, Error> {
    let greeting = channel.receive(LONGEST_ANSWER_BYTES, step(goes_on));
    let Answer::Hello {
        versions,
        challenge,
    } = greeting.map_err(|error| not_the_target(place, error))?
    else {
        return Err(not_the_target(place, ErrorKind::InvalidData.into()));
    };
    if !versions.contains(&VERSION) {
        return Err(Error::Protocol(format!(
            "{place}: the target speaks versions {versions:?} of the protocol, and this program \
             {VERSION}: install the same release at both ends"
        )));
    }
    let challenge = from_hex(&challenge).unwrap_or_default();
    let request = Request::Prove {
        version: VERSION,
        holder: token.holder(),
        proof: hex(&token.secret().prove(&challenge)),
    };
    let sent = channel.send(&request, step(goes_on));
    let answer = sent.and_then(|()| channel.receive(LONGEST_ANSWER_BYTES, step(goes_on)));
    match answer.map_err(|error| not_the_target(place, error))? {
        Answer::Welcome(terms) => Ok(terms),
        answer => Err(unexpected(&answer)),
    }
}

fn not_the_target(place: &str, error: io::Error) -> Error {
    if let Some(own) = own_limit(&error) {
        return own;
    }
    match error.kind() {
        ErrorKind::InvalidData if error.to_string().contains("invalid peer certificate") => {
            Error::Protocol(format!(
                "{place}: this is not the target of the token: its certificate is another one"
            ))
        }
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
            Error::Protocol(format!(
                "{place}: no target of mptcplab answers there: {error}"
            ))
        }
        ErrorKind::TimedOut => Error::Protocol(format!(
            "{place}: no target of mptcplab answers there in time"
        )),
        _ => Error::at(place)(error),
    }
}

/// Without the scope of an address where it has none, and IPv4 as such.
pub(super) fn canonical(address: SocketAddr) -> SocketAddr {
    let ip = address.ip().to_canonical();
    match ip.is_ipv4() {
        true => SocketAddr::new(ip, address.port()),
        false => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_local_address_keeps_its_scope() {
        let scoped = "[fe80::1%3]:80".parse().unwrap();
        assert_eq!(canonical(scoped), scoped);
        let mapped = "[::ffff:192.0.2.1]:80".parse().unwrap();
        assert_eq!(canonical(mapped), "192.0.2.1:80".parse().unwrap());
    }

    #[test]
    fn work_that_hangs_can_be_stopped() {
        let (_open, wait) = channel::<()>();
        let mut asked = 0;
        let mut goes_on = || {
            asked += 1;
            asked < 2
        };
        let hangs = move || wait.recv();
        let stopped = asking_meanwhile(STEP, &mut goes_on, hangs);
        assert!(matches!(stopped, Err(Error::Stopped)));
    }
}
