//! The probe's end: a session with a target, and its experiments.

mod connecting;
mod endpoints;
mod experiment;
mod paths;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub use connecting::{asking_meanwhile, reach};
pub use endpoints::{HeldEndpoints, NewEndpoint};
pub use paths::{Path, paths};

use connecting::canonical;

use crate::Error;
use crate::authorisation::{OPENING_BYTES, Secret};
use crate::channel::{Channel, Limits, SLICE, own_limit};
use crate::frame::{LONGEST_ANSWER_BYTES, LONGEST_REPORT_BYTES};
use crate::message::{Answer, Ended, Experiment, Request, Role, Terms};
use crate::token::{Token, from_hex};

/// Time for each step of a control channel.
const STEP: Duration = Duration::from_secs(10);
/// Time to wait for the experiment of another holder to end.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(180);
/// Time between the first two requests while there is one; it doubles each time.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// The longest time between two of them. A target keeps the place of one who waits for longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
/// Time for the target to end an experiment.
const TIME_TO_REPORT: Duration = Duration::from_secs(30);
/// The same once the caller has stopped it.
const TIME_TO_REPORT_STOPPED: Duration = Duration::from_secs(3);
/// Characters of a reason of the target's that are told.
const LONGEST_REASON: usize = 200;

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
    /// Its first data go in the SYN, where the kernel has a cookie of the target; else it asks for one.
    pub fast_open: bool,
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
    /// The target has closed it without an answer to its opening: that came changed, or the experiment
    /// was over.
    pub refused: bool,
    /// Round-trip times of echoes.
    pub rtts_us: Vec<u64>,
    /// Time in which this end could have gone on, and had no processor; null where the kernel does
    /// not tell.
    pub waited_us: Option<u64>,
    /// Addresses here of the subflows that it had, whenever it was looked at: those that have closed
    /// are not in the account.
    pub sources: Vec<IpAddr>,
    /// This end's account.
    pub probe: Ended,
    /// The target's; null where it saw no such connection.
    pub target: Option<Ended>,
}

/// An experiment that was carried out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// One for each connection, in order.
    pub connections: Vec<Outcome>,
    /// Payload of connections for data, both ways, with the bytes that open them.
    pub moved_bytes: u64,
    /// The caller has stopped it.
    pub stopped: bool,
    /// Mappings of MPTCP with a wrong checksum that came meanwhile, to either end's network namespace.
    pub wrong_checksums: WrongChecksums,
}

/// Mappings of MPTCP with a wrong checksum; null where a kernel does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WrongChecksums {
    /// At this end.
    pub probe: Option<u64>,
    /// At the target.
    pub target: Option<u64>,
}

/// A control channel to a target.
pub struct Session {
    channel: Channel,
    secret: Secret,
    address: SocketAddr,
    local: IpAddr,
    terms: Terms,
    payload_bytes: u64,
    /// A request has no answer yet, which would be taken for that to the next one.
    is_out_of_step: bool,
}

impl Session {
    /// Connects to a target and proves that the token is held. `goes_on` is asked several times a
    /// second; once it says no, that ends with [`Error::Stopped`].
    ///
    /// # Errors
    /// A host that is not reached or is not the target of this token, or that refuses.
    pub fn connect(
        host: &str,
        port: u16,
        token: &Token,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Self, Error> {
        let (channel, stream, terms) = connecting::connect(host, port, token, &mut goes_on)?;
        let place = format!("{host}, port {port}");
        let address = stream.peer_addr().map_err(Error::at(&place))?;
        let local = stream.local_addr().map_err(Error::at(&place))?.ip();
        Ok(Self {
            channel,
            secret: token.secret(),
            address: canonical(address),
            local: local.to_canonical(),
            terms,
            payload_bytes: 0,
            is_out_of_step: false,
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

    /// Payload of all experiments, both ways, also of those that failed.
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// The data that have gone so far, both ways, with those of the control channel.
    pub fn used_bytes(&self) -> u64 {
        self.payload_bytes.saturating_add(self.control_bytes())
    }

    /// Carries out an experiment, which may take `most_bytes` of payload and of the control channel.
    /// `goes_on` is asked several times a second, and told what has been moved; once it says no, the
    /// experiment ends early, and its result is [`Measured::stopped`]. So it is where the bytes
    /// do not suffice for the target's report, which is then missing.
    ///
    /// # Errors
    /// A target that refuses, cannot be reached any more, or is busy for minutes; [`Error::Stopped`]
    /// and [`Error::Budget`] before anything was measured.
    pub fn run(
        &mut self,
        plan: &Plan,
        most_bytes: u64,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Result<Measured, Error> {
        let experiment = Experiment {
            bytes: plan.bytes,
            longest_ms: plan.longest_ms,
            congestion_control: plan.congestion_control.clone(),
            connections: plan.connections.iter().map(|one| one.role).collect(),
        };
        experiment.check().map_err(Error::Request)?;
        if self.is_out_of_step {
            return Err(Error::Stopped);
        }
        let openings = (OPENING_BYTES as u64 + 1) * plan.connections.len() as u64;
        let payload = experiment.most_bytes() + openings;
        let for_control = most_bytes.checked_sub(payload).ok_or(Error::Budget)?;
        let end = self.channel.moved_bytes().saturating_add(for_control);
        self.is_out_of_step = true;
        let nonce = self.reserve(experiment, end, &mut || goes_on(0))?;
        let mut measured = experiment::run(plan, self.places(), &self.secret, &nonce, &mut goes_on);
        self.payload_bytes += measured.moved_bytes;
        let excess = measured.moved_bytes.saturating_sub(payload);
        match self.report(&mut measured, end.saturating_sub(excess), &mut goes_on) {
            Ok(()) => self.is_out_of_step = false,
            Err(Error::Stopped | Error::Budget) => measured.stopped = true,
            Err(error) => return Err(error),
        }
        Ok(measured)
    }

    /// The target's addresses for witnesses, and for data.
    fn places(&self) -> (SocketAddr, SocketAddr) {
        let mut data = self.address;
        data.set_port(self.terms.data_port);
        (self.address, data)
    }

    /// The nonce of an experiment, once the target has granted it.
    fn reserve(
        &mut self,
        experiment: Experiment,
        end: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<u8>, Error> {
        let until = Instant::now() + WAIT_FOR_OTHERS;
        let request = Request::Reserve(experiment);
        let mut pause = ASK_AGAIN;
        loop {
            self.send(&request, end, goes_on)?;
            let retry = match self.receive(LONGEST_ANSWER_BYTES, STEP, end, goes_on)? {
                Answer::Granted { nonce } => {
                    let bad = || Error::Protocol("the target's nonce is no number".to_owned());
                    return from_hex(&nonce).ok_or_else(bad);
                }
                Answer::Busy { retry_ms } => Duration::from_millis(retry_ms.into()),
                answer => {
                    self.is_out_of_step = false;
                    return Err(unexpected(&answer));
                }
            };
            if Instant::now() >= until {
                let text = "it has been busy with others for three minutes";
                return Err(Error::Refused(text.to_owned()));
            }
            if !wait(retry.clamp(ASK_AGAIN, pause), goes_on) {
                self.is_out_of_step = false;
                return Err(Error::Stopped);
            }
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Ends an experiment, and adds the target's accounts to its result.
    fn report(
        &mut self,
        measured: &mut Measured,
        end: u64,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Error> {
        let (moved, is_stopped) = (measured.moved_bytes, measured.stopped);
        let goes_on = &mut || is_stopped || goes_on(moved);
        let within = match is_stopped {
            true => TIME_TO_REPORT_STOPPED,
            false => TIME_TO_REPORT,
        };
        self.send(&Request::Finish {}, end, goes_on)?;
        match self.receive(LONGEST_REPORT_BYTES, within, end, goes_on) {
            Ok(Answer::Report {
                connections,
                wrong_checksums,
            }) if connections.len() == measured.connections.len() => {
                measured.wrong_checksums.target = wrong_checksums;
                for (outcome, target) in measured.connections.iter_mut().zip(connections) {
                    outcome.target = target;
                    if let Some(target) = &mut outcome.target {
                        target.failure = target.failure.as_deref().map(one_line);
                    }
                }
                Ok(())
            }
            Ok(answer) => Err(unexpected(&answer)),
            // Its accounts are missed by nobody.
            Err(_) if is_stopped => Err(Error::Stopped),
            Err(error) => Err(error),
        }
    }

    /// Sends a request; the channel has moved `end` bytes then at most.
    fn send(
        &mut self,
        request: &Request,
        end: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        let place = self.address;
        let left = end.saturating_sub(self.channel.moved_bytes());
        self.channel
            .send(request, Limits::new(STEP, goes_on).at_most(left))
            .map_err(|error| lost(place, error))
    }

    fn receive(
        &mut self,
        longest: usize,
        within: Duration,
        end: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Answer, Error> {
        let place = self.address;
        let left = end.saturating_sub(self.channel.moved_bytes());
        self.channel
            .receive(longest, Limits::new(within, goes_on).at_most(left))
            .map_err(|error| lost(place, error))
    }
}

/// Waits so long; false, at once, where the caller wants no more.
fn wait(time: Duration, goes_on: &mut dyn FnMut() -> bool) -> bool {
    let until = Instant::now() + time;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if !goes_on() || left.is_zero() {
            return left.is_zero();
        }
        std::thread::sleep(left.min(SLICE));
    }
}

/// A text of the target's, as it is told: a line without control characters, and not long.
fn one_line(text: &str) -> String {
    let printed = text.chars().filter(|one| !one.is_control());
    printed.take(LONGEST_REASON).collect()
}

fn lost(place: SocketAddr, error: io::Error) -> Error {
    if let Some(own) = own_limit(&error) {
        return own;
    }
    match error.kind() {
        ErrorKind::UnexpectedEof => {
            Error::Protocol(format!("{place}: the target has ended the session"))
        }
        _ => Error::at(place)(error),
    }
}

fn unexpected(answer: &Answer) -> Error {
    match answer {
        Answer::Refused { reason } => Error::Refused(one_line(reason)),
        _ => Error::Protocol("the target does not keep to the protocol".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_in_one_short_line() {
        let reason = format!("no\r\n\u{1b}[31m{}", "x".repeat(4_000));
        let told = one_line(&reason);
        assert!(told.starts_with("no[31mxxx") && told.chars().count() == LONGEST_REASON);
    }
}
