//! The target: serves holders of its tokens, one experiment at a time.

mod guests;
mod identity;
mod incoming;
mod lease;
mod session;
mod turns;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_linux::wait::poll;
use nix::poll::{PollFd, PollFlags};
use rustls::ServerConfig;
use socket2::{Domain, Protocol, Socket, Type};

pub use identity::Identity;

use guests::{Guest, Guests};
use incoming::Listener;
pub(crate) use incoming::keep_little_unsent;
use lease::Lease;
use turns::Turns;

use crate::Error;
use crate::authorisation::Secret;
use crate::ledger::Ledger;
use crate::settings::{Settings, take_data_of_syns};
use crate::tls::server_config;
use crate::token::Token;

/// The stack of a connection's thread.
const STACK_BYTES: usize = 512 << 10;
/// Time to wait where the system grants no more descriptors or threads.
const SHORTAGE: Duration = Duration::from_millis(200);

/// How a target serves.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where control channels come.
    pub listen: SocketAddr,
    /// The port for data; 0 for any.
    pub data_port: u16,
    /// The greatest rate of an experiment.
    pub rate_limit_bps: Option<u64>,
    /// Data that each holder may move within a day.
    pub volume_limit_bytes: Option<u64>,
}

/// A target that listens.
pub struct Target {
    control: TcpListener,
    data: TcpListener,
    inner: Arc<Inner>,
}

/// The state that all threads of a target share.
struct Inner {
    tls: Arc<ServerConfig>,
    /// Name and secret of each.
    holders: Vec<(String, Secret)>,
    data_port: u16,
    rate_limit_bps: Option<u64>,
    ledger: Mutex<Ledger>,
    began: Instant,
    current: Mutex<Option<Arc<Lease>>>,
    stopped: AtomicBool,
    guests: Arc<Mutex<Guests>>,
    turns: Mutex<Turns>,
    settings: Settings,
}

impl Target {
    /// Listens at both ports.
    ///
    /// # Errors
    /// Addresses that cannot be bound, and a kernel without MPTCP.
    pub fn bind(config: &Config, identity: &Identity) -> Result<Self, Error> {
        let tls = server_config(&identity.certificate, &identity.key)
            .map_err(|error| Error::Request(format!("the certificate: {error}")))?;
        let control = listen(config.listen, Protocol::TCP).map_err(Error::at(config.listen))?;
        save_syns(&control).map_err(Error::at(config.listen))?;
        let at = SocketAddr::new(config.listen.ip(), config.data_port);
        let data = listen(at, Protocol::MPTCP).map_err(Error::at(format!("{at} (MPTCP)")))?;
        let data_port = data.local_addr().map_err(Error::at(at))?.port();
        let holders = identity.tokens.iter();
        let inner = Inner {
            tls,
            holders: holders
                .map(|token| (Token::holder(token), token.secret()))
                .collect(),
            data_port,
            rate_limit_bps: config.rate_limit_bps,
            ledger: Mutex::new(Ledger::new(
                identity.tokens.len(),
                config.volume_limit_bytes,
            )),
            began: Instant::now(),
            current: Mutex::new(None),
            stopped: AtomicBool::new(false),
            guests: Arc::default(),
            turns: Mutex::default(),
            settings: Settings::here(),
        };
        Ok(Self {
            control,
            data,
            inner: Arc::new(inner),
        })
    }

    /// Where control channels come.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.control.local_addr()
    }

    /// The port for data.
    pub fn data_port(&self) -> u16 {
        self.inner.data_port
    }

    /// Serves until `stop` is readable; then every experiment ends.
    ///
    /// # Errors
    /// Those of ppoll(2).
    pub fn run(&self, stop: impl AsFd) -> io::Result<()> {
        let served = self.accept_until(&stop);
        self.inner.stopped.store(true, Ordering::Relaxed);
        if let Some(lease) = &*self.inner.current.lock().expect("no panic") {
            lease.stop();
        }
        served
    }

    fn accept_until(&self, stop: &impl AsFd) -> io::Result<()> {
        loop {
            let mut descriptors = [
                PollFd::new(stop.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.control.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.data.as_fd(), PollFlags::POLLIN),
            ];
            poll(&mut descriptors, None)?;
            let [stopped, control, data] = descriptors.map(|one| one.any() == Some(true));
            if stopped {
                return Ok(());
            }
            if control {
                self.accept(&self.control, Listener::Control);
            }
            if data {
                self.accept(&self.data, Listener::Data);
            }
        }
    }

    fn accept(&self, socket: &TcpListener, listener: Listener) {
        match socket.accept() {
            Ok((stream, from)) => self.serve(stream, from.ip(), listener),
            Err(error) => {
                // Otherwise the peer has gone before it was accepted.
                let is_short = matches!(
                    error.raw_os_error(),
                    Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS)
                );
                if is_short {
                    thread::sleep(SHORTAGE);
                }
            }
        }
    }

    /// Serves a connection on a thread of its own, or closes it where there are too many.
    fn serve(&self, stream: TcpStream, from: IpAddr, listener: Listener) {
        let Some(guest) = Guest::enter(&self.inner.guests, &stream, from) else {
            return;
        };
        let inner = Arc::clone(&self.inner);
        let thread = thread::Builder::new()
            .name("connection".to_owned())
            .stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            // An end that is not the protocol's is the peer's affair.
            let _ = incoming::serve(&inner, stream, listener, || guest.is_holder());
        });
        if spawned.is_err() {
            thread::sleep(SHORTAGE);
        }
    }
}

impl Inner {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("no panic")
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().expect("no panic")
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

fn listen(at: SocketAddr, protocol: Protocol) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, Some(protocol))?;
    socket.set_reuse_address(true)?;
    if at.is_ipv6() && at.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&at.into())?;
    socket.listen(128)?;
    // Where the kernel cannot, it is told as a setting.
    take_data_of_syns(&socket);
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Lets the kernel keep the SYN of each connection, with its options.
fn save_syns(listener: &TcpListener) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads an int, of the length that is given.
    let result = unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_SAVE_SYN,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests;
