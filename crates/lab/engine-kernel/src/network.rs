//! The network of a plan: nodes, pairs of interfaces, and the emulator between them.
//!
//! Each end of a link is a pair of virtual interfaces: one in its node, the other in the lab's own
//! namespace, where the emulator takes and puts frames. Shaping therefore happens inside the
//! network and never on a sending host.

mod captures;
mod control;
mod ends;
mod links;
mod segments;

use std::collections::BTreeMap;
use std::io;

use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::rtnetlink::{Rtnetlink, VethEnd};
use mptcplab_random::{Purpose, Random};
use mptcplab_segment::Switching;

use self::captures::{Capture, open_captures};
pub use self::control::{NetworkControl, Stage};
use self::ends::{open_ends, place};
pub use self::links::{Links, Prepared};
use self::segments::{attached, switching};
use crate::controller::{Outside, PlannedPolicy};
use crate::emulator::{Connections, LinkEnd};
use crate::netns::NetNs;
use crate::node::Node;
use crate::open_vswitch;
use crate::plan::{InterfaceRef, Plan};
use crate::record::Recorder;
use crate::sysctl;

/// Every node and link of a plan, before its start.
pub struct Network {
    /// The hosts and routers, in the order of the plan; its switches come after them.
    pub nodes: Vec<Node>,
    ends: Vec<[LinkEnd; 2]>,
    /// The switches, and a warning where their controller has not found all of the network.
    switching: Option<(Switching, Option<&'static str>)>,
    /// The policy in Python.
    policy: Option<PlannedPolicy>,
    /// The ends of channels that are outside, and the connections to them.
    outside: Option<(Outside, Connections)>,
    lab_netns: NetNs,
    /// The lab's own side of each link's interfaces, by their index; `None` at a switch.
    near: Vec<[Option<u32>; 2]>,
    captures: Vec<Capture>,
}

impl Network {
    /// Makes the nodes in namespaces of their own and the interfaces between them; the calling
    /// thread's namespace holds the emulator's side of each. `connections` are those to a controller
    /// outside of the lab.
    ///
    /// # Errors
    /// The kernel's, with the name of the node, interface or setting.
    pub fn build(plan: &Plan, connections: Option<Connections>) -> io::Result<Self> {
        prepare_lab_netns()?;
        let hosts = plan.nodes.iter().take_while(|node| node.switch.is_none());
        let hosts: Vec<_> = hosts.collect();
        let attached = attached(plan);
        let nodes = hosts
            .iter()
            .enumerate()
            .map(|(index, node)| {
                let bits = Random::new(plan.seed, Purpose::Routes, index).bits();
                let flow_seed = (bits as u32).max(1);
                let interfaces = 0..node.interfaces.len();
                let of = |interface| InterfaceRef {
                    node: index,
                    interface,
                };
                let segments = interfaces.map(|interface| attached.get(&of(interface)).cloned());
                Node::start(node, flow_seed, segments.collect())
                    .map_err(|error| within(&node.name, error))
            })
            .collect::<io::Result<Vec<_>>>()?;
        let mut rtnetlink = Rtnetlink::open()?;
        let lab_netns = NetNs::current()?;
        let bridges = open_vswitch::namespace(plan)?;
        for (number, link) in plan.links.iter().enumerate() {
            for (end, far) in link.ends.iter().enumerate() {
                let Some(place) = place(plan, &nodes, bridges.as_ref(), (number, end))? else {
                    continue;
                };
                let near_end = VethEnd {
                    name: &near_name(number, end),
                    netns: &lab_netns,
                    mtu: place.mtu,
                    mac: mac(number, true),
                    offload: place.offload,
                    neighbours: false,
                };
                let segment = attached.get(far);
                let far_end = VethEnd {
                    name: &place.name,
                    netns: place.netns,
                    mac: segment.map_or(mac(number, false), |segment| segment.hardware),
                    neighbours: segment.is_some(),
                    ..near_end
                };
                rtnetlink
                    .add_veth(&near_end, &far_end)
                    .map_err(|error| within(&plan.subject(*far), error))?;
            }
        }
        let indices: BTreeMap<String, u32> = Interfaces::open()?
            .interfaces()?
            .into_iter()
            .map(|i| (i.name, i.index))
            .collect();
        let near: Vec<[Option<u32>; 2]> = (0..plan.links.len())
            .map(|number| [0, 1].map(|end| indices.get(&near_name(number, end)).copied()))
            .collect();
        for index in near.iter().flatten().flatten() {
            rtnetlink.set_up(*index, true)?;
        }
        let policy = PlannedPolicy::of(plan)?;
        let supply = policy.as_ref().map(PlannedPolicy::asked).transpose()?;
        Ok(Self {
            nodes,
            ends: open_ends(plan, &near)?,
            switching: switching(plan, supply)?,
            policy,
            outside: Outside::of(plan, connections, bridges)?,
            lab_netns,
            near,
            captures: open_captures(plan)?,
        })
    }

    /// The namespace of the program that controls the switches, if it is another's.
    pub fn of_controller(&self) -> Option<&NetNs> {
        self.outside.as_ref()?.0.of_program()
    }

    /// The namespaces of programs of the controller and of bridges.
    pub fn of_programs(&self) -> impl Iterator<Item = &NetNs> {
        let outside = self.outside.iter();
        let policy = self.policy.iter().map(PlannedPolicy::netns);
        policy.chain(outside.flat_map(|(outside, _)| outside.namespaces()))
    }
}

/// Gives every node its addresses, routes and endpoints.
///
/// # Errors
/// The kernel's, with the name of the node.
pub fn configure(nodes: &[Node], plan: &Plan, recorder: &Recorder) -> io::Result<()> {
    nodes
        .iter()
        .zip(&plan.nodes)
        .try_for_each(|(node, planned)| {
            node.configure(recorder)
                .map_err(|error| within(&planned.name, error))
        })
}

/// Prepares the lab's own namespace: it has no addresses and sends nothing of its own. Namespaces
/// created in it get small tables of connections: the time of a dump of all connections, which the
/// telemetry requests several times a second, grows with the size of the table.
fn prepare_lab_netns() -> io::Result<()> {
    const CONNECTION_BUCKETS: &str = "net.ipv4.tcp_child_ehash_entries";
    if sysctl::get(CONNECTION_BUCKETS).is_ok() {
        sysctl::set(CONNECTION_BUCKETS, "4096")?;
    }
    for scope in ["all", "default"] {
        let name = format!("net.ipv6.conf.{scope}.disable_ipv6");
        if sysctl::get(&name).is_ok() {
            sysctl::set(&name, "1")?;
        }
    }
    Ok(())
}

fn near_name(link: usize, end: usize) -> String {
    format!("l{link}e{end}")
}

/// A locally administered hardware address that tells its link.
///
/// Both nodes of a link have the same: without neighbour resolution ([`Rtnetlink::add_veth`]) the
/// kernel sends to the interface's own address.
fn mac(link: usize, near: bool) -> [u8; 6] {
    let [high, low] = (link as u16).to_be_bytes();
    [0x02, u8::from(near), 0, 0, high, low]
}

/// The seed of a link's random streams: far enough apart that the links of one repetition share no
/// stream with another's.
fn link_seed(seed: u64, number: usize) -> u64 {
    seed.wrapping_mul(1 << 16).wrapping_add(number as u64)
}

fn within(place: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{place}: {error}"))
}
