//! The path manager's hands and ears.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mptcplab_kernel::changes::NetworkChanges;
use mptcplab_kernel::dump::Dumper;
use mptcplab_kernel::event::Events;
use mptcplab_kernel::interfaces::Interfaces;
use mptcplab_kernel::path_manager::{Local, PathManager};
use mptcplab_kernel::sock_diag;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;

use crate::{Config, Core, Nanos, Order, SubflowSample};

/// Between two looks at all sockets, where what they carry or how they fare matters.
const SAMPLE_INTERVAL: Nanos = 100_000_000;

/// A path manager at work in the network namespace in which it was opened.
pub struct Daemon {
    core: Core,
    events: Events,
    changes: NetworkChanges,
    orders: PathManager,
    sockets: Dumper,
    interfaces: Interfaces,
    begun: Instant,
    next_sample: Nanos,
}

impl Daemon {
    /// Begins to hear of the calling thread's namespace. It does not change
    /// `net.mptcp.path_manager`.
    ///
    /// # Errors
    /// `NotFound` where the kernel has no MPTCP, `PermissionDenied` without CAP_NET_ADMIN.
    pub fn open(config: Config) -> io::Result<Self> {
        let mut daemon = Self {
            core: Core::new(config),
            events: Events::open()?,
            changes: NetworkChanges::open()?,
            orders: PathManager::open()?,
            sockets: Dumper::open(libc::NETLINK_SOCK_DIAG)?,
            interfaces: Interfaces::open()?,
            begun: Instant::now(),
            next_sample: 0,
        };
        let addresses = daemon.interfaces.local_addresses()?;
        daemon.core.set_addresses(addresses);
        Ok(daemon)
    }

    /// Works until `stop` is written to; `say` is told each order and what became of it.
    ///
    /// # Errors
    /// What poll(2) and netlink give; orders that the kernel refuses are told only.
    pub fn run(
        &mut self,
        stop: &EventFd,
        mut say: impl FnMut(&Order, io::Result<()>),
    ) -> io::Result<()> {
        loop {
            self.obey(&mut say);
            if !self.wait(stop)? {
                return Ok(());
            }
            self.listen()?;
        }
    }

    fn now(&self) -> Nanos {
        self.begun.elapsed().as_nanos() as Nanos
    }

    /// Sleeps until there is something to do; false when it is to stop.
    fn wait(&self, stop: &EventFd) -> io::Result<bool> {
        let now = self.now();
        let sample = self.needs_samples().then_some(self.next_sample);
        let next = self.core.next(now).into_iter().chain(sample).min();
        let pause = next.map(|next| Duration::from_nanos(next.saturating_sub(now)));
        let timeout = pause.map_or(PollTimeout::NONE, |pause| {
            // Rounded up: waking early would only spin.
            PollTimeout::try_from(pause.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX)
        });
        let watched = [stop.as_fd(), self.events.as_fd(), self.changes.as_fd()];
        let mut watched = watched.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        match poll(&mut watched, timeout) {
            Ok(_) => Ok(watched[0].any() != Some(true)),
            Err(Errno::EINTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in what has happened.
    fn listen(&mut self) -> io::Result<()> {
        let now = self.now();
        let core = &mut self.core;
        let mut lost = false;
        loop {
            match self.events.read(|event| core.hear(now, &event)) {
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => lost = true,
                other => break other?,
            }
        }
        if self.changes.drain()? {
            self.core.set_addresses(self.interfaces.local_addresses()?);
        }
        if lost || self.needs_samples() && now >= self.next_sample {
            self.sample(lost)?;
            self.next_sample = now + SAMPLE_INTERVAL;
        }
        Ok(())
    }

    fn needs_samples(&self) -> bool {
        self.core.needs_bytes() || self.core.needs_timeouts()
    }

    /// Looks at those sockets of the namespace that anything depends on: at all where events were
    /// lost.
    fn sample(&mut self, lost: bool) -> io::Result<()> {
        let (mut tokens, mut bytes, mut subflows) = (Vec::new(), Vec::new(), Vec::new());
        if lost || self.core.needs_bytes() {
            sock_diag::mptcp_sockets(&mut self.sockets, |info| {
                tokens.extend(info.token);
                let carried = info.bytes_sent.zip(info.bytes_received);
                let carried = carried.map(|(sent, received)| sent + received);
                bytes.extend(info.token.zip(carried));
            })?;
        }
        if lost || self.core.needs_timeouts() {
            sock_diag::tcp_sockets(&mut self.sockets, |socket| {
                let token = socket.mptcp.and_then(|subflow| subflow.token);
                let sample = token.map(|token| SubflowSample {
                    token,
                    local: socket.local,
                    remote: socket.remote,
                    timeouts: socket.info.timeouts.unwrap_or(0),
                });
                subflows.extend(sample);
            })?;
        }
        if lost {
            self.core.resync(&tokens, &subflows);
        }
        self.core.set_samples(&bytes, &subflows);
        Ok(())
    }

    /// Carries out what the core orders.
    fn obey(&mut self, say: &mut impl FnMut(&Order, io::Result<()>)) {
        let now = self.now();
        for order in self.core.orders(now) {
            let done = match order {
                Order::Open {
                    token,
                    local,
                    remote,
                    backup,
                } => {
                    let opened = self.open_subflow(token, local, remote, backup);
                    if opened.is_err() {
                        self.core.refused(now, token, local, remote);
                    }
                    opened
                }
                Order::Close {
                    token,
                    local,
                    remote,
                } => self.orders.destroy_subflow(token, local, remote),
                Order::Announce { token, address } => self.announce(token, address),
                Order::Withdraw { token, address } => self.withdraw(token, address),
            };
            say(&order, done);
        }
    }

    fn open_subflow(
        &mut self,
        token: u32,
        local: IpAddr,
        remote: SocketAddr,
        backup: bool,
    ) -> io::Result<()> {
        let address = SocketAddr::new(local, 0);
        let initial = self.core.initial_address(token);
        let in_use = || self.core.local_ids(token);
        let id = self
            .orders
            .subflow_address_id(token, initial, address, in_use)?;
        let id = id.ok_or_else(|| io::Error::other("all ids of addresses are taken"))?;
        let local = Local {
            address,
            id,
            backup,
            interface: 0,
        };
        self.orders.create_subflow(token, &local, remote)?;
        self.core.give_id(token, address.ip(), id);
        Ok(())
    }

    fn announce(&mut self, token: u32, address: IpAddr) -> io::Result<()> {
        let address = SocketAddr::new(address, 0);
        let in_use = || self.core.local_ids(token);
        let id = self.orders.announced_address_id(token, address, in_use)?;
        let id = id.ok_or_else(|| io::Error::other("all ids of addresses are taken"))?;
        let local = Local {
            address,
            id,
            backup: false,
            interface: 0,
        };
        self.orders.announce(token, &local)?;
        self.core.give_id(token, address.ip(), id);
        Ok(())
    }

    fn withdraw(&mut self, token: u32, address: IpAddr) -> io::Result<()> {
        let known = self.orders.local_addresses(token)?;
        let mut of_address = known.iter().filter(|known| known.address == address);
        of_address.try_for_each(|known| self.orders.remove(token, known.id))
    }
}
