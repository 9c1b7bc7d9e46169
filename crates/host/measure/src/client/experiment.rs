//! The connections of an experiment at the probe, a thread each.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, SocketAddrV6, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol as Transport, SockRef, Socket, Type};

use super::{Measured, Outcome, Plan, Protocol, Wanted, WrongChecksums};
use crate::arrival::stamp;
use crate::authorisation::{GO, OPENING_BYTES, Secret};
use crate::content;
use crate::data::{Shared, piece_bytes, prepare};
use crate::message::{ECHO_BYTES, Role};
use crate::observe::{seen, sources};
use crate::settings::{open_fast, wrong_checksums};
use crate::target::keep_little_unsent;

/// Time for a connection to be opened.
const TIME_TO_CONNECT: Duration = Duration::from_secs(5);
/// Time beyond that of the experiment for data that is under way.
const TIME_TO_DRAIN: Duration = Duration::from_secs(3);
/// Distance of two questions whether to go on.
const TICK: Duration = Duration::from_millis(50);

/// The state that all threads share.
struct World<'a> {
    plan: &'a Plan,
    /// Of the target, for witnesses, and for data.
    places: (SocketAddr, SocketAddr),
    secret: &'a Secret,
    nonce: &'a [u8],
    all_connected: Barrier,
    began: OnceLock<Instant>,
    left_bytes: AtomicU64,
    moved_bytes: AtomicU64,
    bulks_under_way: AtomicUsize,
    bulks: usize,
    stopped: AtomicBool,
}

/// Runs all connections; see [`super::Session::run`].
pub(super) fn run(
    plan: &Plan,
    places: (SocketAddr, SocketAddr),
    secret: &Secret,
    nonce: &[u8],
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Measured {
    let bulks = plan
        .connections
        .iter()
        .filter(|one| one.role.is_bulk())
        .count();
    let world = World {
        plan,
        places,
        secret,
        nonce,
        all_connected: Barrier::new(plan.connections.len()),
        began: OnceLock::new(),
        left_bytes: AtomicU64::new(plan.bytes),
        moved_bytes: AtomicU64::new(0),
        bulks_under_way: AtomicUsize::new(bulks),
        bulks,
        stopped: AtomicBool::new(false),
    };
    let before = wrong_checksums();
    let connections: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.connections.len())
            .map(|place| {
                scope.spawn({
                    let world = &world;
                    move || world.connection(place)
                })
            })
            .collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            thread::sleep(TICK);
            let moved = plan.bytes - world.left_bytes.load(Ordering::Relaxed);
            if !world.stopped.load(Ordering::Relaxed) && !goes_on(moved) {
                world.stopped.store(true, Ordering::Relaxed);
            }
        }
        let outcomes = threads.into_iter().map(|thread| thread.join());
        outcomes.map(|outcome| outcome.expect("no panic")).collect()
    });
    let moved = |outcome: &Outcome| {
        let opening = outcome.connect_us.map_or(0, |_| OPENING_BYTES as u64 + 1);
        outcome.probe.sent_bytes + outcome.probe.received_bytes + opening
    };
    let counted = before.zip(wrong_checksums());
    Measured {
        moved_bytes: connections.iter().map(moved).sum(),
        stopped: world.stopped.load(Ordering::Relaxed),
        connections,
        wrong_checksums: WrongChecksums {
            probe: counted.map(|(before, after)| after.saturating_sub(before)),
            target: None,
        },
    }
}

impl World<'_> {
    /// One connection from its beginning to its end.
    fn connection(&self, place: usize) -> Outcome {
        let wanted = &self.plan.connections[place];
        let mut outcome = Outcome::default();
        let began = Instant::now();
        let opened = self.open(wanted);
        if opened.is_ok() {
            outcome.connect_us = Some(micros(began.elapsed()));
        }
        self.all_connected.wait();
        let done = opened.and_then(|stream| {
            let (end, ended) = channel::<()>();
            let (done, sources) = thread::scope(|scope| {
                let watched = (wanted.protocol == Protocol::Mptcp)
                    .then(|| scope.spawn(|| watched_sources(&stream, ended)));
                let done = self.carry(&stream, place, &mut outcome);
                drop(end);
                (done, watched.map(|thread| thread.join().expect("no panic")))
            });
            outcome.sources = sources.unwrap_or_default();
            outcome.probe.seen = seen(&stream);
            done
        });
        if wanted.role.is_bulk() {
            self.bulks_under_way.fetch_sub(1, Ordering::Relaxed);
        }
        outcome.failure = done.err().map(|error| error.to_string());
        outcome.waited_us = waited().map(micros);
        outcome
    }

    fn open(&self, wanted: &Wanted) -> io::Result<TcpStream> {
        let (of_witnesses, of_data) = self.places;
        let mut target = if wanted.witness {
            of_witnesses
        } else {
            of_data
        };
        if target.ip() != wanted.target {
            target = SocketAddr::new(wanted.target, target.port());
        }
        let opening = Opening {
            protocol: wanted.protocol,
            source: wanted.source,
            device: wanted.device.as_deref(),
            fast: wanted.fast_open,
        };
        let stream = open(&opening, target, TIME_TO_CONNECT)?;
        prepare(&stream)?;
        if let Some(control) = &self.plan.congestion_control {
            SockRef::from(&stream).set_tcp_congestion(control.as_bytes())?;
        }
        if wanted.role == Role::Receive && self.bulks > 1 {
            keep_little_unsent(&stream);
        }
        Ok(stream)
    }

    fn carry(&self, mut stream: &TcpStream, place: usize, outcome: &mut Outcome) -> io::Result<()> {
        let wanted = &self.plan.connections[place];
        let is_stopped = || self.stopped.load(Ordering::Relaxed);
        let began = *self.began.get_or_init(Instant::now);
        let longest = Duration::from_millis(self.plan.longest_ms.into());
        let drain = match wanted.role {
            Role::Receive => Duration::ZERO,
            Role::Send | Role::Echo(_) | Role::Compare(_) => TIME_TO_DRAIN,
        };
        let mut shared = Shared {
            left_bytes: &self.left_bytes,
            moved_bytes: &self.moved_bytes,
            began,
            until: began + longest + drain,
            is_stopped: &is_stopped,
            bucket: None,
            piece_bytes: piece_bytes(self.bulks, self.plan.bytes, None),
        };
        let number = u8::try_from(place).map_err(io::Error::other)?;
        stream.write_all(&self.secret.opening(self.nonce, number))?;
        let mut go = [0];
        let came = shared.read_message(stream, &mut go);
        if !matches!(came, Ok(true)) || go[0] != GO {
            let is_over = matches!(came, Ok(false)) && Instant::now() >= shared.until;
            outcome.refused = !is_over && !is_stopped();
            came?;
            let text = "the target did not take the connection";
            return Err(io::Error::new(ErrorKind::PermissionDenied, text));
        }
        match wanted.role {
            Role::Send => shared.receive(stream, &mut outcome.probe),
            Role::Receive => {
                shared.send(stream, &mut outcome.probe)?;
                // The target closes once all has come.
                shared.until += TIME_TO_DRAIN;
                shared.read_message(stream, &mut [0]).map(|_| ())
            }
            Role::Echo(most) => self.pings(stream, &shared, most, wanted.interval_ms, outcome),
            Role::Compare(bytes) => {
                let known = content::known(self.nonce, number, bytes.into());
                shared.compare(stream, &known, &mut outcome.probe)
            }
        }
    }

    /// Pings while there is data, or so often.
    fn pings(
        &self,
        stream: &TcpStream,
        shared: &Shared<'_>,
        most: u16,
        interval_ms: u32,
        outcome: &mut Outcome,
    ) -> io::Result<()> {
        stamp(stream);
        for number in 0..most {
            let is_alone = self.bulks > 0 && self.bulks_under_way.load(Ordering::Relaxed) == 0;
            if is_alone || self.stopped.load(Ordering::Relaxed) {
                break;
            }
            let mut message = [0; ECHO_BYTES];
            message[..2].copy_from_slice(&number.to_be_bytes());
            let Some(rtt) = shared.ping(stream, &message, &mut outcome.probe)? else {
                break;
            };
            outcome.rtts_us.push(micros(rtt));
            thread::sleep(Duration::from_millis(interval_ms.into()));
        }
        Ok(())
    }
}

/// Addresses here of the subflows that a connection has until the other end of the channel is dropped.
fn watched_sources(stream: &TcpStream, ended: Receiver<()>) -> Vec<IpAddr> {
    let mut found = Vec::new();
    let mut is_last = false;
    loop {
        for source in sources(stream) {
            if !found.contains(&source) {
                found.push(source);
            }
        }
        if is_last {
            return found;
        }
        is_last = ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout);
    }
}

/// How a connection is opened.
pub(super) struct Opening<'a> {
    pub(super) protocol: Protocol,
    /// Its address here.
    pub(super) source: IpAddr,
    /// The interface that it is bound to.
    pub(super) device: Option<&'a str>,
    /// By TCP Fast Open.
    pub(super) fast: bool,
}

/// A connection to the target; one by TCP Fast Open may be opened with its first data.
///
/// # Errors
/// Those of socket(2), setsockopt(2), bind(2) and connect(2).
pub(super) fn open(
    opening: &Opening<'_>,
    target: SocketAddr,
    within: Duration,
) -> io::Result<TcpStream> {
    let transport = match opening.protocol {
        Protocol::Tcp => Transport::TCP,
        Protocol::Mptcp => Transport::MPTCP,
    };
    let domain = Domain::for_address(target);
    let socket = Socket::new(domain, Type::STREAM, Some(transport)).map_err(without_mptcp)?;
    if let Some(device) = opening.device {
        socket.bind_device(Some(device.as_bytes()))?;
    }
    socket.bind(&local(opening.source, target).into())?;
    if opening.fast && !open_fast(&socket) {
        return Err(io::Error::last_os_error());
    }
    socket.connect_timeout(&target.into(), within)?;
    Ok(socket.into())
}

/// Any port of an address; a link-local one is of the target's link.
fn local(source: IpAddr, target: SocketAddr) -> SocketAddr {
    match (source, target) {
        (IpAddr::V6(six), SocketAddr::V6(target)) if six.is_unicast_link_local() => {
            SocketAddrV6::new(six, 0, 0, target.scope_id()).into()
        }
        _ => SocketAddr::new(source, 0),
    }
}

/// Time in which this thread could have run, and had no processor (Documentation/scheduler/sched-stats
/// of Linux); `None` where the kernel does not tell.
fn waited() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let waited_ns = told.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(waited_ns))
}

fn without_mptcp(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOPROTOOPT | libc::EPROTONOSUPPORT) => {
            io::Error::other("this kernel has no MPTCP, or net.mptcp.enabled is 0")
        }
        _ => error,
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
