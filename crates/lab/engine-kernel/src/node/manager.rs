//! The network manager of a node: follows its interfaces, and executes commands.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mptcplab_linux::wait::poll;
use nix::poll::{PollFd, PollFlags};
use nix::sys::eventfd::EventFd;

use super::subflows::FIRST_REJOIN_PAUSE;
use super::userspace::UserspacePathManager;
use super::{Command, Segment};
use crate::plan::{self, Interface, Prefix};
use crate::record::Recorder;
use crate::run_clock::LOOK;
use mptcplab_linux::changes::NetworkChanges;
use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::path_manager::PathManager;
use mptcplab_linux::rtnetlink::Rtnetlink;

/// The state of one interface.
pub(super) struct Managed {
    pub(super) index: u32,
    pub(super) running: bool,
    /// Its cable is connected.
    pub(super) plugged: bool,
    /// The time at which its addresses come back.
    pub(super) due: Option<Instant>,
    /// Addresses whose rules, routes and endpoints are installed.
    pub(super) installed: Vec<Prefix>,
    /// The backup flag of its endpoints, where an event has set it.
    pub(super) backup: Option<bool>,
    /// The time at which its returned addresses must have a subflow, and the length of that wait.
    pub(super) rejoin: Option<(Instant, Duration)>,
}

pub(super) struct Manager<'a> {
    pub(super) node: &'a plan::Node,
    /// The places of its interfaces that are on segments.
    pub(super) segments: Vec<Option<Segment>>,
    pub(super) recorder: Recorder,
    pub(super) interfaces: Interfaces,
    pub(super) rtnetlink: Rtnetlink,
    pub(super) events: NetworkChanges,
    pub(super) path_manager: Option<PathManager>,
    /// Runs while this lives.
    _userspace: Option<UserspacePathManager>,
    pub(super) managed: Vec<Managed>,
}

impl<'a> Manager<'a> {
    /// Takes over the node's interfaces and brings them up.
    pub(super) fn new(
        node: &'a plan::Node,
        segments: Vec<Option<Segment>>,
        recorder: Recorder,
    ) -> io::Result<Self> {
        let mut interfaces = Interfaces::open()?;
        let indices: BTreeMap<String, u32> = interfaces
            .interfaces()?
            .into_iter()
            .map(|i| (i.name, i.index))
            .collect();
        let managed = node
            .interfaces
            .iter()
            .map(|interface| {
                let index = *indices.get(&interface.name).ok_or_else(|| {
                    io::Error::other(format!("{}.{} is missing", node.name, interface.name))
                })?;
                Ok(Managed {
                    index,
                    running: false,
                    plugged: true,
                    due: None,
                    installed: Vec::new(),
                    backup: None,
                    rejoin: None,
                })
            })
            .collect::<io::Result<_>>()?;
        let events = NetworkChanges::open()?;
        let mut path_manager = if node.router || !node.mptcp.enabled {
            None
        } else {
            match PathManager::open() {
                Ok(path_manager) => Some(path_manager),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            }
        };
        if let Some(path_manager) = &mut path_manager {
            path_manager.set_limits(
                node.mptcp.limit_subflows,
                node.mptcp.limit_add_addr_accepted,
            )?;
        }
        let userspace = if path_manager.is_some() {
            UserspacePathManager::start(node, &recorder)?
        } else {
            None
        };
        let mut manager = Self {
            node,
            segments,
            recorder,
            interfaces,
            rtnetlink: Rtnetlink::open()?,
            events,
            path_manager,
            _userspace: userspace,
            managed,
        };
        for interface in 0..manager.managed.len() {
            manager
                .rtnetlink
                .set_up(manager.managed[interface].index, true)?;
            manager.managed[interface].running = true;
            manager.add_addresses(interface)?;
        }
        manager.sync()?;
        Ok(manager)
    }

    /// Sleeps until an event, a command or a deadline; true when an interface or an address has
    /// changed.
    pub(super) fn sleep(&self, wake: &EventFd) -> io::Result<bool> {
        let deadlines = self
            .managed
            .iter()
            .flat_map(|managed| [managed.due, managed.rejoin.map(|(due, _)| due)]);
        let due = deadlines.flatten().min();
        let clock = self.recorder.clock();
        let left = due.map(|due| due.saturating_duration_since(clock.instant()));
        // A clock that stands brings nothing nearer.
        let least = if clock.stands() { LOOK } else { Duration::ZERO };
        let timeout = left.map(|left| left.max(least));
        let watched = [wake.as_fd(), self.events.as_fd()];
        let mut ready = watched.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        Ok(poll(&mut ready, timeout)? > 0 && ready[1].any().unwrap_or(false))
    }

    /// Handles the kernel's events and the deadlines that have come.
    pub(super) fn act(&mut self, links_changed: bool) -> io::Result<()> {
        if links_changed {
            self.events.drain()?;
            self.sync()?;
        }
        let now = self.recorder.clock().instant();
        for interface in 0..self.managed.len() {
            if self.managed[interface].due.is_some_and(|due| due <= now) {
                self.managed[interface].due = None;
                self.add_addresses(interface)?;
                self.sync()?;
                self.announce(interface)?;
                self.managed[interface].rejoin =
                    Some((now + FIRST_REJOIN_PAUSE, FIRST_REJOIN_PAUSE));
            }
            if let Some((due, pause)) = self.managed[interface].rejoin
                && due <= now
            {
                self.managed[interface].rejoin = None;
                self.rejoin(interface, pause)?;
            }
        }
        Ok(())
    }

    pub(super) fn execute(&mut self, command: Command) {
        let (result, answer) = match command {
            Command::SetUp {
                interface,
                up,
                answer,
            } => (self.set_up(interface, up), answer),
            Command::SetPlugged {
                interface,
                plugged,
                answer,
            } => (self.set_plugged(interface, plugged), answer),
            Command::SetBackup {
                interface,
                backup,
                answer,
            } => (self.set_backup(interface, backup), answer),
            Command::Announce { answer } => {
                let mut interfaces = 0..self.managed.len();
                let result = interfaces.try_for_each(|interface| self.announce(interface));
                (result, answer)
            }
            Command::Configure { answer, .. } => (Ok(()), answer),
        };
        answer.send(result).ok();
    }

    fn set_up(&mut self, interface: usize, up: bool) -> io::Result<()> {
        if !up {
            self.set_running(interface, false)?;
            self.sync_addresses()?;
        }
        self.rtnetlink.set_up(self.managed[interface].index, up)
    }

    fn set_plugged(&mut self, interface: usize, plugged: bool) -> io::Result<()> {
        self.managed[interface].plugged = plugged;
        self.sync()
    }

    /// Compares the kernel's interfaces and addresses with what is installed, and applies the
    /// difference.
    fn sync(&mut self) -> io::Result<()> {
        let links = self.interfaces.interfaces()?;
        for interface in 0..self.managed.len() {
            let Managed { index, plugged, .. } = self.managed[interface];
            let running = links
                .iter()
                .any(|link| link.index == index && link.has_carrier);
            self.set_running(interface, running && plugged)?;
        }
        self.sync_addresses()
    }

    /// Sets whether an interface runs: one that stops loses its addresses, one that runs again has
    /// them after its address delay.
    fn set_running(&mut self, interface: usize, running: bool) -> io::Result<()> {
        if running == self.managed[interface].running {
            return Ok(());
        }
        self.managed[interface].running = running;
        if running {
            let delay = Duration::from_nanos(self.interface(interface).address_delay_ns);
            self.managed[interface].due = Some(self.recorder.clock().instant() + delay);
            return Ok(());
        }
        self.managed[interface].due = None;
        self.managed[interface].rejoin = None;
        for prefix in &self.interface(interface).addresses {
            self.rtnetlink.delete_address(
                self.managed[interface].index,
                prefix.address,
                prefix.length,
            )?;
        }
        Ok(())
    }

    pub(super) fn interface(&self, interface: usize) -> &'a Interface {
        &self.node.interfaces[interface]
    }

    pub(super) fn subject(&self, interface: usize) -> String {
        format!("{}.{}", self.node.name, self.interface(interface).name)
    }

    pub(super) fn event(&self, kind: &str, interface: usize, label: &str) {
        self.recorder.event(kind, &self.subject(interface), label);
    }

    pub(super) fn warn(&self, text: &str) {
        self.recorder.warn(&format!("{}: {text}", self.node.name));
    }
}
