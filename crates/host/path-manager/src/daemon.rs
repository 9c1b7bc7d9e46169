//! The path manager's I/O: events and samples in, commands out.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mptcplab_linux::changes::NetworkChanges;
use mptcplab_linux::dump::Dumper;
use mptcplab_linux::event::Events;
use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::path_manager::{Local, PathManager};
use mptcplab_linux::sock_diag;
use mptcplab_linux::wait::poll;
use nix::poll::{PollFd, PollFlags};
use nix::sys::eventfd::EventFd;

use crate::{Command, Config, Core, Nanos, SubflowSample};

/// Interval between two samples of all sockets, where a decision depends on their counters.
const SAMPLE_INTERVAL: Nanos = 100_000_000;

/// A path manager at work in the network namespace in which it was opened.
pub struct Daemon {
    core: Core,
    events: Events,
    changes: NetworkChanges,
    path_manager: PathManager,
    sockets: Dumper,
    interfaces: Interfaces,
    begun: Instant,
    next_sample: Nanos,
}

impl Daemon {
    /// Subscribes to the events of the calling thread's namespace. It does not change
    /// `net.mptcp.path_manager`.
    ///
    /// # Errors
    /// `NotFound` where the kernel has no MPTCP, `PermissionDenied` without CAP_NET_ADMIN.
    pub fn open(config: Config) -> io::Result<Self> {
        let mut daemon = Self {
            core: Core::new(config),
            events: Events::open()?,
            changes: NetworkChanges::open()?,
            path_manager: PathManager::open()?,
            sockets: Dumper::open(libc::NETLINK_SOCK_DIAG)?,
            interfaces: Interfaces::open()?,
            begun: Instant::now(),
            next_sample: 0,
        };
        let addresses = daemon.interfaces.local_addresses()?;
        daemon.core.set_addresses(addresses);
        Ok(daemon)
    }

    /// Runs until `stop` is written to; `report` is given each command and its result.
    ///
    /// # Errors
    /// Those of poll(2) and netlink; commands that the kernel refuses are only reported.
    pub fn run(
        &mut self,
        stop: &EventFd,
        mut report: impl FnMut(&Command, io::Result<()>),
    ) -> io::Result<()> {
        loop {
            self.carry_out_commands(&mut report);
            if !self.wait(stop)? {
                return Ok(());
            }
            self.read_input()?;
        }
    }

    fn now(&self) -> Nanos {
        self.begun.elapsed().as_nanos() as Nanos
    }

    /// Waits for events or a deadline; false when it is to stop.
    fn wait(&self, stop: &EventFd) -> io::Result<bool> {
        let now = self.now();
        let sample = self.needs_samples().then_some(self.next_sample);
        let next = self.core.next_deadline(now).into_iter().chain(sample).min();
        let pause = next.map(|next| Duration::from_nanos(next.saturating_sub(now)));
        let watched = [stop.as_fd(), self.events.as_fd(), self.changes.as_fd()];
        let mut watched = watched.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let ready = poll(&mut watched, pause)?;
        Ok(ready == 0 || watched[0].any() != Some(true))
    }

    /// Reads events and changes of addresses, and takes a sample where one is due.
    fn read_input(&mut self) -> io::Result<()> {
        let now = self.now();
        let core = &mut self.core;
        let mut lost = false;
        loop {
            match self.events.read(|event| core.on_event(now, &event)) {
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

    /// Samples the sockets of the namespace that a decision depends on: all where events were lost.
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

    /// Carries out the core's commands.
    fn carry_out_commands(&mut self, report: &mut impl FnMut(&Command, io::Result<()>)) {
        let now = self.now();
        for command in self.core.commands(now) {
            let done = match command {
                Command::Open {
                    token,
                    local,
                    remote,
                    backup,
                } => {
                    let opened = self.open_subflow(token, local, remote, backup);
                    if opened.is_err() {
                        self.core.on_refused(now, token, local, remote);
                    }
                    opened
                }
                Command::Close {
                    token,
                    local,
                    remote,
                } => self.path_manager.destroy_subflow(token, local, remote),
                Command::Announce { token, address } => self.announce(token, address),
                Command::Withdraw { token, address } => self.withdraw(token, address),
            };
            report(&command, done);
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
            .path_manager
            .subflow_address_id(token, initial, address, in_use)?;
        let id = id.ok_or_else(|| io::Error::other("all ids of addresses are taken"))?;
        let local = Local {
            address,
            id,
            backup,
            interface: 0,
        };
        self.path_manager.create_subflow(token, &local, remote)?;
        self.core.give_id(token, address.ip(), id);
        Ok(())
    }

    fn announce(&mut self, token: u32, address: IpAddr) -> io::Result<()> {
        let address = SocketAddr::new(address, 0);
        let in_use = || self.core.local_ids(token);
        let id = self
            .path_manager
            .announced_address_id(token, address, in_use)?;
        let id = id.ok_or_else(|| io::Error::other("all ids of addresses are taken"))?;
        let local = Local {
            address,
            id,
            backup: false,
            interface: 0,
        };
        self.path_manager.announce(token, &local)?;
        self.core.give_id(token, address.ip(), id);
        Ok(())
    }

    fn withdraw(&mut self, token: u32, address: IpAddr) -> io::Result<()> {
        let known = self.path_manager.local_addresses(token)?;
        let mut of_address = known.iter().filter(|known| known.address == address);
        of_address.try_for_each(|known| self.path_manager.remove(token, known.id))
    }
}
