//! A node and its network manager: addresses, routes by source, and MPTCP endpoints, installed anew
//! whenever an interface or an address goes and comes.
//!
//! Each node has one thread in its namespace. It acts as the network manager of a laptop: an
//! interface that loses its carrier or is set down loses its addresses, and with them their rules,
//! routes and endpoints; one that comes back has them again after its address delay.

mod addresses;
mod announce;
mod manager;
mod namespace;
mod subflows;
mod userspace;

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use mptcplab_linux::path_manager;
use mptcplab_segment::ethernet::MacAddress;
use nix::sys::eventfd::{EfdFlags, EventFd};

use self::manager::Manager;
use self::namespace::prepare;
use crate::netns::NetNs;
use crate::plan::{self, EndpointFlags};
use crate::record::Recorder;

/// The flags of a planned endpoint, as the kernel's path manager takes them.
pub fn kernel_flags(planned: EndpointFlags) -> path_manager::EndpointFlags {
    path_manager::EndpointFlags {
        signal: planned.signal,
        subflow: planned.subflow,
        backup: planned.backup,
        fullmesh: planned.fullmesh,
    }
}

/// The place of an interface on a segment of links that switches join.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its hardware address.
    pub hardware: MacAddress,
    /// The addresses of all others on the segment, with their hardware addresses.
    pub neighbours: Vec<(IpAddr, MacAddress)>,
}

/// A running node.
pub struct Node {
    /// Its namespace.
    pub netns: NetNs,
    /// A thread in it, by which other processes can enter it.
    pub thread_id: i32,
    commands: Sender<Command>,
    wake: Arc<EventFd>,
}

enum Command {
    Configure {
        recorder: Recorder,
        answer: Sender<io::Result<()>>,
    },
    Announce {
        answer: Sender<io::Result<()>>,
    },
    SetUp {
        interface: usize,
        up: bool,
        answer: Sender<io::Result<()>>,
    },
    SetPlugged {
        interface: usize,
        plugged: bool,
        answer: Sender<io::Result<()>>,
    },
    SetBackup {
        interface: usize,
        backup: bool,
        answer: Sender<io::Result<()>>,
    },
}

impl Node {
    /// Creates the namespace with its settings. Once its interfaces have been created,
    /// [`Node::configure`] follows. A router's `flow_seed`, which is not 0, says which flow takes
    /// which of equal ways. `segments` has the places of its interfaces that are on segments.
    ///
    /// # Errors
    /// When the kernel refuses the namespace or one of the node's settings.
    pub fn start(
        node: &plan::Node,
        flow_seed: u32,
        segments: Vec<Option<Segment>>,
    ) -> io::Result<Self> {
        let (commands, inbox) = channel();
        let wake = Arc::new(EventFd::from_flags(
            EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC,
        )?);
        let (started, start) = channel();
        thread::Builder::new().name(node.name.clone()).spawn({
            let wake = Arc::clone(&wake);
            let node = node.clone();
            move || match prepare(&node, flow_seed, segments.iter().any(Option::is_some)) {
                Ok(netns) => {
                    started
                        .send(Ok((netns, nix::unistd::gettid().as_raw())))
                        .ok();
                    serve(&node, segments, &inbox, &wake);
                }
                Err(error) => drop(started.send(Err(error))),
            }
        })?;
        let (netns, thread_id) = start.recv().map_err(io::Error::other)??;
        Ok(Self {
            netns,
            thread_id,
            commands,
            wake,
        })
    }

    /// Brings the node's interfaces up, with their addresses, routes and endpoints.
    ///
    /// # Errors
    /// When the kernel refuses an address, a route or an endpoint.
    pub fn configure(&self, recorder: &Recorder) -> io::Result<()> {
        self.ask(|answer| Command::Configure {
            recorder: recorder.clone(),
            answer,
        })
    }

    /// Makes its addresses known on the segments of switches that it is on.
    ///
    /// # Errors
    /// The kernel's.
    pub fn announce(&self) -> io::Result<()> {
        self.ask(|answer| Command::Announce { answer })
    }

    /// `ip link set … up|down` on interface number `interface`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_up(&self, interface: usize, up: bool) -> io::Result<()> {
        self.ask(|answer| Command::SetUp {
            interface,
            up,
            answer,
        })
    }

    /// Connects or disconnects the cable of interface number `interface`. The kernel notices the
    /// loss of a carrier only after some tens of milliseconds; the addresses go at once.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_plugged(&self, interface: usize, plugged: bool) -> io::Result<()> {
        self.ask(|answer| Command::SetPlugged {
            interface,
            plugged,
            answer,
        })
    }

    /// Changes the backup flag of the endpoints of interface number `interface`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_backup(&self, interface: usize, backup: bool) -> io::Result<()> {
        self.ask(|answer| Command::SetBackup {
            interface,
            backup,
            answer,
        })
    }

    fn ask(&self, command: impl FnOnce(Sender<io::Result<()>>) -> Command) -> io::Result<()> {
        let (answer, result) = channel();
        self.commands
            .send(command(answer))
            .map_err(io::Error::other)?;
        self.wake.write(1)?;
        result.recv().map_err(io::Error::other)?
    }
}

/// Executes commands and follows the kernel's events until the [`Node`] is dropped.
fn serve(
    node: &plan::Node,
    segments: Vec<Option<Segment>>,
    inbox: &Receiver<Command>,
    wake: &EventFd,
) {
    let Ok(Command::Configure { recorder, answer }) = inbox.recv() else {
        return;
    };
    let mut manager = match Manager::new(node, segments, recorder) {
        Ok(manager) => manager,
        Err(error) => return drop(answer.send(Err(error))),
    };
    answer.send(Ok(())).ok();
    loop {
        let links_changed = match manager.sleep(wake) {
            Ok(changed) => changed,
            Err(error) => {
                return manager.warn(&format!("the network manager stopped: {error}"));
            }
        };
        // A request that the kernel refuses once may succeed the next time.
        if let Err(error) = manager.act(links_changed) {
            manager.warn(&error.to_string());
        }
        wake.read().ok();
        loop {
            use std::sync::mpsc::TryRecvError;
            match inbox.try_recv() {
                Ok(command) => manager.execute(command),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }
}
