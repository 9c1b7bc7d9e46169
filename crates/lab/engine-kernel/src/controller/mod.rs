//! A controller of the switches that is another's: a program in a namespace of its own, or one that
//! runs outside of the lab.

mod program;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use mptcplab_linux::rtnetlink::Rtnetlink;

pub use self::program::Program;
use crate::emulator::{Connections, Emulator};
use crate::netns::NetNs;
use crate::node::Node;
use crate::plan::Plan;
use crate::record::Recorder;
use crate::traffic::{Stop, Wake, wait};

/// The port of OpenFlow (IANA), on which a program listens.
const PORT: u16 = 6653;
/// Time in which the controller must have said something to every switch.
const PATIENCE: Duration = Duration::from_secs(30);
/// Interval of the checks whether it has.
const LOOK: Duration = Duration::from_millis(10);
/// Time between two announcements of the hosts' addresses.
const ANNOUNCEMENT: Duration = Duration::from_secs(1);
/// The first interface of a namespace, the loopback.
const LOOPBACK: u32 = 1;

/// The controller of a plan that is another's, before its start.
pub struct Outside {
    program: Option<(Vec<String>, NetNs)>,
    /// The place where it listens, for messages.
    place: String,
    discovery: Duration,
}

/// Sockets for the connections of a plan's switches to the address of their controller, if the plan
/// has one. They belong to the namespace of their making, the caller's own: this is called outside
/// of the walls ([`crate::isolate::enter`]).
///
/// # Errors
/// When there are no file descriptors left.
pub fn connections_outside(plan: &Plan) -> io::Result<Option<Connections>> {
    let address = plan.controller.as_ref().and_then(|one| one.address);
    let open = |address: crate::plan::Address| {
        Connections::open(switches(plan), SocketAddr::new(address.host, address.port))
    };
    address.map(open).transpose()
}

impl Outside {
    /// The controller of a plan, if it is another's, with the connections to it; `outside` are those
    /// to an address. A program gets its namespace.
    ///
    /// # Errors
    /// When the kernel refuses the namespace.
    pub fn of(
        plan: &Plan,
        outside: Option<Connections>,
    ) -> io::Result<Option<(Self, Connections)>> {
        let Some(planned) = &plan.controller else {
            return Ok(None);
        };
        let discovery = Duration::from_nanos(planned.discovery_ns);
        if let (Some(address), Some(connections)) = (planned.address, outside) {
            let place = SocketAddr::new(address.host, address.port).to_string();
            let outside = Self {
                program: None,
                place,
                discovery,
            };
            return Ok(Some((outside, connections)));
        }
        let Some(argv) = &planned.argv else {
            return Ok(None);
        };
        let netns = NetNs::create()?;
        let own = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT);
        let connections = netns.run(|| {
            Rtnetlink::open()?.set_up(LOOPBACK, true)?;
            Connections::open(switches(plan), own)
        })??;
        let outside = Self {
            program: Some((argv.clone(), netns)),
            place: format!("TCP port {PORT}"),
            discovery,
        };
        Ok(Some((outside, connections)))
    }

    /// The namespace of its program.
    pub fn netns(&self) -> Option<&NetNs> {
        self.program.as_ref().map(|(_, netns)| netns)
    }

    /// Starts its program, if it is one.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn start(&self, recorder: &Recorder) -> io::Result<Option<Program>> {
        let program = self.program.as_ref();
        let start = |(argv, netns): &(Vec<String>, _)| Program::start(argv, netns, recorder);
        program.map(start).transpose()
    }

    /// Waits until the controller has said something to every switch of the emulator, and lets it
    /// find the network, whose hosts announce their addresses. A stop ends the wait.
    ///
    /// # Errors
    /// When the controller's program ends, or it is silent for long.
    pub fn find_network(
        &self,
        emulator: &Emulator,
        program: Option<&Program>,
        nodes: &[Node],
        stop: &Stop,
    ) -> io::Result<()> {
        let patience = Instant::now() + PATIENCE;
        while !emulator.are_heard()? {
            if let Some(end) = program.and_then(Program::failure) {
                return Err(io::Error::other(end));
            }
            if Instant::now() >= patience {
                return Err(io::Error::other(format!(
                    "the controller has not answered every switch on {} within {} s: it must \
                     listen there, and speak OpenFlow 1.3",
                    self.place,
                    PATIENCE.as_secs()
                )));
            }
            if wait(None, &[stop], Some(Instant::now() + LOOK))? != Wake::Deadline {
                return Ok(());
            }
        }
        let end = Instant::now() + self.discovery;
        while Instant::now() < end {
            nodes.iter().try_for_each(Node::announce)?;
            let next = end.min(Instant::now() + ANNOUNCEMENT);
            if wait(None, &[stop], Some(next))? != Wake::Deadline {
                break;
            }
        }
        Ok(())
    }
}

fn switches(plan: &Plan) -> impl Iterator<Item = usize> {
    let nodes = plan.nodes.iter().enumerate();
    nodes.filter_map(|(number, node)| node.switch.map(|_| number))
}
