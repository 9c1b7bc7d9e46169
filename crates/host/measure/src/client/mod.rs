//! The probe's end: a session with a target, and its experiments.

mod endpoints;
mod experiment;
mod paths;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use rustls::Connection;
use serde::{Deserialize, Serialize};

pub use endpoints::{HeldEndpoints, NewEndpoint};
pub use paths::{Path, paths};

use crate::Error;
use crate::authorisation::Secret;
use crate::channel::Channel;
use crate::frame::LONGEST_ANSWER_BYTES;
use crate::message::{Answer, Ended, Experiment, Request, Role, Terms, VERSION};
use crate::tls;
use crate::token::{Token, from_hex};

/// Time for each step of a control channel.
const STEP: Duration = Duration::from_secs(10);
/// Time to wait for the experiment of another holder to end.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(180);
/// Distance of two requests while there is one.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// Time for the target to end an experiment.
const TIME_TO_REPORT: Duration = Duration::from_secs(30);

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// MPTCP, or what it falls back to.
    Mptcp,
}

/// A connection that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Its address here.
    pub source: IpAddr,
    /// The interface that it is bound to, where routes lead another way.
    pub device: Option<String>,
    /// The target's address.
    pub target: IpAddr,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its use, as the target sees it.
    pub role: Role,
    /// Time between two messages that are echoed.
    pub interval_ms: u32,
    /// It goes where the target looks at its SYN, and where nothing but TCP is spoken.
    pub witness: bool,
}

/// Some connections at once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// As of [`Experiment`].
    pub bytes: u64,
    /// As of [`Experiment`].
    pub longest_ms: u32,
    /// Of both ends.
    pub congestion_control: Option<String>,
    /// The connections.
    pub connections: Vec<Wanted>,
}

/// A connection as both ends saw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// The reason for which it could not be opened, or ended early.
    pub failure: Option<String>,
    /// Time of connect(2).
    pub connect_us: Option<u64>,
    /// Round-trip times of echoes.
    pub rtts_us: Vec<u64>,
    /// This end's account.
    pub probe: Ended,
    /// The target's; null where it saw no such connection.
    pub target: Option<Ended>,
}

/// An experiment that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// One for each connection, in order.
    pub connections: Vec<Outcome>,
    /// Payload of connections for data, both ways, with the bytes that open them.
    pub moved_bytes: u64,
    /// The caller has stopped it.
    pub stopped: bool,
}

/// A control channel to a target.
pub struct Session {
    channel: Channel,
    secret: Secret,
    address: SocketAddr,
    local: IpAddr,
    terms: Terms,
}

impl Session {
    /// Connects to a target and proves that the token is held.
    ///
    /// # Errors
    /// A host that is not reached or is not the target of this token, or that refuses.
    pub fn connect(host: &str, port: u16, token: &Token) -> Result<Self, Error> {
        let place = format!("{host}, port {port}");
        let stream = connect(host, port).map_err(Error::at(&place))?;
        let address = stream.peer_addr().map_err(Error::at(&place))?;
        let local = stream.local_addr().map_err(Error::at(&place))?.ip();
        let tls = tls::client(token.fingerprint)
            .map_err(|error| Error::Protocol(format!("{place}: {error}")))?;
        let channel = Channel::open(Connection::from(tls), stream, LONGEST_ANSWER_BYTES, STEP);
        let mut channel = channel.map_err(|error| not_the_target(&place, error))?;
        let terms = prove(&mut channel, token, &place)?;
        Ok(Self {
            channel,
            secret: token.secret(),
            address: canonical(address),
            local: local.to_canonical(),
            terms,
        })
    }

    /// Where the target was reached.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address from which it was reached.
    pub fn local(&self) -> IpAddr {
        self.local
    }

    /// The terms of the target.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Bytes that have gone over the control channel's connection, both ways.
    pub fn control_bytes(&self) -> u64 {
        self.channel.moved_bytes()
    }

    /// Carries out an experiment. `goes_on` is asked several times a second, and told what has been
    /// moved; once it says no, the experiment ends early.
    ///
    /// # Errors
    /// A target that refuses, cannot be reached any more, or is busy for minutes.
    pub fn run(
        &mut self,
        plan: &Plan,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Measured, Error> {
        let experiment = Experiment {
            bytes: plan.bytes,
            longest_ms: plan.longest_ms,
            congestion_control: plan.congestion_control.clone(),
            connections: plan.connections.iter().map(|one| one.role).collect(),
        };
        experiment.check().map_err(Error::Request)?;
        let nonce = self.reserve(experiment, &mut goes_on)?;
        let ports = (self.address.port(), self.terms.data_port);
        let mut measured = experiment::run(plan, ports, &self.secret, &nonce, goes_on);
        self.send(&Request::Finish {})?;
        match self.receive(TIME_TO_REPORT)? {
            Answer::Report { connections } if connections.len() == plan.connections.len() => {
                for (outcome, target) in measured.connections.iter_mut().zip(connections) {
                    outcome.target = target;
                }
                Ok(measured)
            }
            answer => Err(unexpected(&answer)),
        }
    }

    fn reserve(
        &mut self,
        experiment: Experiment,
        goes_on: &mut impl FnMut(u64) -> bool,
    ) -> Result<Vec<u8>, Error> {
        let until = Instant::now() + WAIT_FOR_OTHERS;
        let request = Request::Reserve(experiment);
        loop {
            self.send(&request)?;
            let retry = match self.receive(STEP)? {
                Answer::Granted { nonce } => {
                    let bad = || Error::Protocol("the target's nonce is no number".to_owned());
                    return from_hex(&nonce).ok_or_else(bad);
                }
                Answer::Busy { retry_ms } => Duration::from_millis(retry_ms.into()),
                answer => return Err(unexpected(&answer)),
            };
            if !goes_on(0) {
                return Err(Error::Stopped);
            }
            if Instant::now() >= until {
                let text = "it has been busy with others for three minutes";
                return Err(Error::Refused(text.to_owned()));
            }
            std::thread::sleep(retry.min(ASK_AGAIN));
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), Error> {
        let place = self.address;
        self.channel
            .send(request, STEP)
            .map_err(|error| lost(place, error))
    }

    fn receive(&mut self, within: Duration) -> Result<Answer, Error> {
        let place = self.address;
        self.channel
            .receive(within)
            .map_err(|error| lost(place, error))
    }
}

/// The first of the host's addresses that answers.
fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "no such host");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, STEP) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn prove(channel: &mut Channel, token: &Token, place: &str) -> Result<Terms, Error> {
    let greeting = channel.receive(STEP);
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
        proof: crate::token::hex(&token.secret().prove(&challenge)),
    };
    let sent = channel.send(&request, STEP);
    let answer = sent.and_then(|()| channel.receive(STEP));
    match answer.map_err(|error| not_the_target(place, error))? {
        Answer::Welcome(terms) => Ok(terms),
        answer => Err(unexpected(&answer)),
    }
}

fn not_the_target(place: &str, error: io::Error) -> Error {
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

fn lost(place: SocketAddr, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => {
            Error::Protocol(format!("{place}: the target has ended the session"))
        }
        _ => Error::at(place)(error),
    }
}

fn unexpected(answer: &Answer) -> Error {
    match answer {
        Answer::Refused { reason } => Error::Refused(reason.clone()),
        _ => Error::Protocol("the target does not keep to the protocol".to_owned()),
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
