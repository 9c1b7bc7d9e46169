//! A controller and switches that are others': a program in a namespace of its own, a controller that
//! runs outside of the lab, bridges of Open vSwitch; and the program of a policy in Python.

mod policy;
mod program;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use mptcplab_linux::rtnetlink::Rtnetlink;

pub use self::policy::{Failure, PlannedPolicy, PolicyProgram};
use self::program::Program;
use crate::emulator::{Connections, Emulator};
use crate::netns::NetNs;
use crate::node::Node;
use crate::open_vswitch::{OpenVSwitch, controller_of};
use crate::plan::{InterfaceRef, Plan};
use crate::record::Recorder;
use crate::traffic::{Stop, Wake, piped, wait};

/// The port of OpenFlow (IANA), on which a program listens.
pub const PORT: u16 = 6653;
/// Time in which the controller must have said something to every switch.
const PATIENCE: Duration = Duration::from_secs(30);
/// Interval of the checks whether it has.
const LOOK: Duration = Duration::from_millis(10);
/// Time between two announcements of the hosts' addresses, once all channels are at work.
const ANNOUNCEMENT: Duration = Duration::from_secs(1);
/// The same until then, and until a controller of ours knows the network: switches that are not
/// connected yet drop what comes.
const FIRST_ANNOUNCEMENTS: Duration = Duration::from_millis(200);
const UNKNOWN_NETWORK: &str = "the controller of the switches had not found all of them, their \
    links and the hosts within 30 s; the run began without";
/// The first interface of a namespace, the loopback.
const LOOPBACK: u32 = 1;

/// The programs of a run beside those of its traffic.
pub struct Programs {
    program: Option<Program>,
    bridges: Option<OpenVSwitch>,
}

/// The ends of channels that are outside of the emulator, before the run: a controller of another's,
/// by its program or its address, and the bridges of Open vSwitch.
pub struct Outside {
    program: Option<(Vec<String>, NetNs)>,
    bridges: Option<NetNs>,
    /// The place where the controller listens, for messages; `None`: it is ours.
    place: Option<String>,
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
    address
        .map(|address| connections(plan, SocketAddr::new(address.host, address.port)))
        .transpose()
}

fn connections(plan: &Plan, address: SocketAddr) -> io::Result<Connections> {
    let mut connections = Connections::new()?;
    switches(plan).try_for_each(|node| connections.add_controller(node, address))?;
    Ok(connections)
}

impl Outside {
    /// The ends outside of a plan that has some, with the connections to them; `outside` are those to
    /// the address of a controller, `bridges` is the namespace of the bridges. A program gets a
    /// namespace.
    ///
    /// # Errors
    /// When the kernel refuses the namespace.
    pub fn of(
        plan: &Plan,
        outside: Option<Connections>,
        bridges: Option<NetNs>,
    ) -> io::Result<Option<(Self, Connections)>> {
        let Some(planned) = &plan.controller else {
            return Ok(None);
        };
        let argv = planned.argv.as_ref();
        let program = argv.map(|argv| io::Result::Ok((argv.clone(), NetNs::create()?)));
        let program = program.transpose()?;
        let place = planned.address.map_or_else(
            || program.as_ref().map(|_| format!("TCP port {PORT}")),
            |address| Some(SocketAddr::new(address.host, address.port).to_string()),
        );
        if place.is_none() && bridges.is_none() {
            return Ok(None);
        }
        let mut all = match (outside, &program) {
            (Some(outside), _) => outside,
            (None, Some((_, netns))) => netns.run(|| {
                Rtnetlink::open()?.set_up(LOOPBACK, true)?;
                connections(plan, SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT))
            })??,
            (None, None) => Connections::new()?,
        };
        if let Some(netns) = &bridges {
            netns.run(|| {
                Rtnetlink::open()?.set_up(LOOPBACK, true)?;
                let mut nodes = switches(plan).filter(|node| plan.nodes[*node].is_bridge());
                nodes.try_for_each(|node| all.add_switch(node, controller_of(node).into()))
            })??;
        }
        let outside = Self {
            program,
            bridges,
            place,
            discovery: Duration::from_nanos(planned.discovery_ns),
        };
        Ok(Some((outside, all)))
    }

    /// The namespace of the controller's program.
    pub fn of_program(&self) -> Option<&NetNs> {
        self.program.as_ref().map(|(_, netns)| netns)
    }

    /// The namespaces of a program and of bridges.
    pub fn namespaces(&self) -> impl Iterator<Item = &NetNs> {
        self.of_program().into_iter().chain(&self.bridges)
    }

    /// Starts the controller's program and Open vSwitch, where they are wanted. The ports of bridges
    /// have the names that `port_name` gives.
    ///
    /// # Errors
    /// When a program cannot be run.
    pub fn start(
        &self,
        plan: &Plan,
        recorder: &Recorder,
        port_name: impl Fn(InterfaceRef) -> Option<String> + Sync,
    ) -> io::Result<Programs> {
        let bridges = self.bridges.as_ref();
        let bridges = bridges.map(|netns| OpenVSwitch::start(plan, netns, port_name));
        let bridges = bridges.transpose()?;
        let program = self.program.as_ref();
        let program = program
            .map(|(argv, netns)| Program::start(piped(argv)?, argv.join(" "), netns, recorder));
        Ok(Programs {
            program: program.transpose()?,
            bridges,
        })
    }

    /// Waits until all channels are at work and a controller of ours knows the network, or another
    /// one has had time to find it. The hosts announce their addresses. A stop ends the wait.
    ///
    /// # Errors
    /// When the controller's program ends, or an end is silent for long.
    pub fn find_network(
        &self,
        emulator: &Emulator,
        programs: &Programs,
        nodes: &[Node],
        (recorder, stop): (&Recorder, &Stop),
    ) -> io::Result<()> {
        let patience = Instant::now() + PATIENCE;
        let mut announce_at = Instant::now();
        while !emulator.is_ready()? {
            if let Some(end) = programs.program.as_ref().and_then(Program::failure) {
                return Err(io::Error::other(end));
            }
            if Instant::now() >= announce_at {
                nodes.iter().try_for_each(Node::announce)?;
                announce_at = Instant::now() + FIRST_ANNOUNCEMENTS;
            }
            if Instant::now() >= patience {
                let Some(place) = &self.place else {
                    recorder.warn(UNKNOWN_NETWORK);
                    return Ok(());
                };
                return Err(io::Error::other(format!(
                    "the controller has not answered every switch on {place} within {} s: it must \
                     listen there, and speak OpenFlow 1.3",
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

impl Programs {
    /// Ends them: nothing of them is left.
    pub fn end(self, recorder: &Recorder) {
        if let Some(program) = self.program {
            program.end();
        }
        if let Some(bridges) = self.bridges {
            bridges.end(recorder);
        }
    }
}

fn switches(plan: &Plan) -> impl Iterator<Item = usize> {
    let nodes = plan.nodes.iter().enumerate();
    nodes.filter_map(|(number, node)| node.switch.map(|_| number))
}
