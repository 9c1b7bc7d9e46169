//! A control channel at the target.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustls::{Connection, ServerConnection};

use super::{Inner, Lease};
use crate::authorisation::random;
use crate::channel::{Channel, Limits};
use crate::congestion;
use crate::frame::LONGEST_REQUEST_BYTES;
use crate::message::{Answer, Ended, Experiment, Request, Terms, VERSION};
use crate::settings::wrong_checksums;
use crate::token::{from_hex, hex};

/// Time for the handshake of TLS, and for the proof.
pub(super) const TIME_TO_PROVE: Duration = Duration::from_secs(5);
/// Time between two requests of a holder.
const IDLE: Duration = Duration::from_secs(120);
/// Time for a holder to take an answer.
const TIME_TO_TAKE: Duration = Duration::from_secs(10);
/// Time in which another one who waits takes its turn.
const TURN: Duration = Duration::from_secs(4);
/// Time for connections to end once the probe's ends have.
const TIME_TO_END: Duration = Duration::from_secs(2);

/// Serves a channel until its end; `proved` is called once it is a holder's.
///
/// # Errors
/// Those of the socket, and of messages that are none.
pub(super) fn serve(
    inner: &Arc<Inner>,
    stream: TcpStream,
    proved: impl FnOnce(),
) -> io::Result<()> {
    let tls = ServerConnection::new(Arc::clone(&inner.tls)).map_err(io::Error::other)?;
    let tls = Connection::from(tls);
    let mut goes_on = || !inner.stopped.load(Ordering::Relaxed);
    let channel = Channel::open(tls, stream, Limits::new(TIME_TO_PROVE, &mut goes_on))?;
    let mut channel = Served { channel, inner };
    let Some(holder) = prove(inner, &mut channel)? else {
        return Ok(());
    };
    proved();
    let Some(number) = inner.turns().enter(holder) else {
        return refuse(&mut channel, "this token has too many sessions at once");
    };
    let entered = Entered { inner, number };
    let terms = Terms {
        data_port: inner.data_port,
        rate_limit_bps: inner.rate_limit_bps,
        volume_left_bytes: inner.ledger().left(holder, inner.now()),
        settings: inner.settings,
    };
    channel.send(&Answer::Welcome(terms), TIME_TO_TAKE)?;
    loop {
        match channel.receive(IDLE)? {
            Request::Reserve(experiment) => {
                reserve(&entered, &mut channel, holder, experiment)?;
            }
            Request::Prove { .. } | Request::Finish {} => {
                return refuse(&mut channel, "no experiment is under way");
            }
        }
    }
}

/// A channel that ends with the target.
struct Served<'a> {
    channel: Channel,
    inner: &'a Inner,
}

impl Served<'_> {
    fn send(&mut self, answer: &Answer, within: Duration) -> io::Result<()> {
        let mut goes_on = || !self.inner.stopped.load(Ordering::Relaxed);
        let limits = Limits::new(within, &mut goes_on);
        self.channel.send(answer, limits)
    }

    fn receive(&mut self, within: Duration) -> io::Result<Request> {
        let mut goes_on = || !self.inner.stopped.load(Ordering::Relaxed);
        let limits = Limits::new(within, &mut goes_on);
        self.channel.receive(LONGEST_REQUEST_BYTES, limits)
    }
}

/// The number of the holder; `None` where the peer is none, and was told.
fn prove(inner: &Inner, channel: &mut Served<'_>) -> io::Result<Option<usize>> {
    let challenge: [u8; 32] = random();
    let hello = Answer::Hello {
        versions: vec![VERSION],
        challenge: hex(&challenge),
    };
    channel.send(&hello, TIME_TO_PROVE)?;
    let Request::Prove {
        version,
        holder,
        proof,
    } = channel.receive(TIME_TO_PROVE)?
    else {
        refuse(channel, "a proof comes first")?;
        return Ok(None);
    };
    if version != VERSION {
        refuse(
            channel,
            &format!(
                "version {VERSION} of the protocol is spoken here, and {version} by the probe: \
                 install the same release at both ends"
            ),
        )?;
        return Ok(None);
    }
    let mut holders = inner.holders.iter();
    let number = holders.position(|(name, secret)| {
        let proof = from_hex(&proof).unwrap_or_default();
        *name == holder && secret.is_proof(&challenge, &proof)
    });
    if number.is_none() {
        refuse(channel, "it did not give out this token")?;
    }
    Ok(number)
}

fn refuse(channel: &mut Served<'_>, reason: &str) -> io::Result<()> {
    let reason = reason.to_owned();
    channel.send(&Answer::Refused { reason }, TIME_TO_TAKE)
}

/// A session that is counted while it lasts.
struct Entered<'a> {
    inner: &'a Inner,
    number: u64,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.inner.turns().leave(self.number);
    }
}

/// Grants an experiment where that is possible, and reports of it in the end.
fn reserve(
    entered: &Entered<'_>,
    channel: &mut Served<'_>,
    holder: usize,
    experiment: Experiment,
) -> io::Result<()> {
    if let Err(reason) = experiment.check() {
        return refuse(channel, &reason);
    }
    let wanted = experiment.congestion_control.as_deref();
    if let Some(reason) = wanted.and_then(congestion::obstacle) {
        return refuse(channel, &reason);
    }
    let held = match Held::take(entered, holder, experiment) {
        Ok(held) => held,
        Err(answer) => return channel.send(&answer, TIME_TO_TAKE),
    };
    let before = wrong_checksums();
    let nonce = hex(&held.lease.nonce);
    channel.send(&Answer::Granted { nonce }, TIME_TO_TAKE)?;
    let left = held.lease.until.saturating_duration_since(Instant::now());
    let Request::Finish {} = channel.receive(left)? else {
        return refuse(channel, "an experiment is under way");
    };
    let connections = held.lease.finish(TIME_TO_END);
    drop(held);
    let counted = before.zip(wrong_checksums());
    let report = Answer::Report {
        connections,
        wrong_checksums: counted.map(|(before, after)| after.saturating_sub(before)),
    };
    channel.send(&report, TIME_TO_TAKE)
}

/// The lease of a channel: given back however that ends.
struct Held<'a> {
    inner: &'a Inner,
    lease: Arc<Lease>,
}

impl<'a> Held<'a> {
    fn take(entered: &Entered<'a>, holder: usize, experiment: Experiment) -> Result<Self, Answer> {
        let inner = entered.inner;
        let mut current = inner.current.lock().expect("no panic");
        if inner.stopped.load(Ordering::Relaxed) {
            let reason = "it is ending".to_owned();
            return Err(Answer::Refused { reason });
        }
        let is_free = current.is_none();
        let now = inner.now();
        if !inner.turns().may_begin(entered.number, is_free, now) {
            let under_way = current.as_ref();
            let left = under_way.map_or(TURN, |lease| {
                lease.until.saturating_duration_since(Instant::now())
            });
            let retry_ms = u32::try_from(left.as_millis()).unwrap_or(u32::MAX);
            return Err(Answer::Busy { retry_ms });
        }
        let most = experiment.most_bytes();
        if !inner.ledger().reserve(holder, most, inner.now()) {
            let reason = "this token's volume of a day would be exceeded".to_owned();
            return Err(Answer::Refused { reason });
        }
        let secret = inner.holders[holder].1.clone();
        let lease = Lease::new(holder, secret, experiment, inner.rate_limit_bps);
        let lease = Arc::new(lease);
        *current = Some(Arc::clone(&lease));
        Ok(Self { inner, lease })
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let ended = self.lease.finish(Duration::ZERO);
        let moved = ended.iter().flatten().map(carried).sum();
        let most = self.lease.experiment.most_bytes();
        self.inner.ledger().settle(self.lease.holder, most, moved);
        *self.inner.current.lock().expect("no panic") = None;
    }
}

fn carried(account: &Ended) -> u64 {
    account.sent_bytes + account.received_bytes
}
