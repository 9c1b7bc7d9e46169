//! The network of a plan: nodes, pairs of interfaces, and the emulator between them.
//!
//! Each end of a link is a pair of virtual interfaces: one in its node, the other in the lab's own
//! namespace, where the emulator takes and puts frames. Shaping therefore happens inside the
//! network and never on a sending host.

mod captures;
mod ends;
mod segments;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::rtnetlink::{Rtnetlink, VethEnd};
use mptcplab_middlebox::Chain;
use mptcplab_random::{Purpose, Random};
use mptcplab_record::LinkSample;
use mptcplab_segment::Switching;

use self::captures::{Capture, open_captures};
use self::ends::open_ends;
use self::segments::{attached, host, switching};
use crate::capture;
use crate::emulator::{Control, EmulatedLink, Emulator, LinkEnd, Middleboxes, Summary, Switches};
use crate::netns::NetNs;
use crate::node::Node;
use crate::plan::{Action, InterfaceRef, Plan};
use crate::realtime::ReservedThread;
use crate::record::Recorder;
use crate::sysctl;
use crate::translations::Translations;

/// Every node and link of a plan, before its start.
pub struct Network {
    /// The hosts and routers, in the order of the plan; its switches come after them.
    pub nodes: Vec<Node>,
    ends: Vec<[LinkEnd; 2]>,
    /// The switches, and a warning where their controller has not found all of the network.
    switching: Option<(Switching, Option<&'static str>)>,
    lab_netns: NetNs,
    /// The lab's own side of each link's interfaces, by their index; `None` at a switch.
    near: Vec<[Option<u32>; 2]>,
    captures: Vec<Capture>,
}

/// The links of a network, carrying packets.
pub struct Links {
    lab_netns: NetNs,
    emulator: Emulator,
    captures: Vec<(String, capture::Writer, Arc<AtomicU64>)>,
    near: Vec<[Option<u32>; 2]>,
    ends: Vec<[InterfaceRef; 2]>,
}

/// A step of carrying out an event.
pub type Stage = fn(&NetworkControl, &Action, &[Node]) -> io::Result<()>;

/// A handle by which the events of a run change the network.
#[derive(Clone)]
pub struct NetworkControl {
    lab_netns: NetNs,
    emulator: Control,
    near: Vec<[Option<u32>; 2]>,
    ends: Vec<[InterfaceRef; 2]>,
}

impl Network {
    /// Makes the nodes in namespaces of their own and the interfaces between them; the calling
    /// thread's namespace holds the emulator's side of each.
    ///
    /// # Errors
    /// The kernel's, with the name of the node, interface or setting.
    pub fn build(plan: &Plan) -> io::Result<Self> {
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
        for (number, link) in plan.links.iter().enumerate() {
            for (end, far) in link.ends.iter().enumerate() {
                let Some(node) = host(plan, &nodes, *far)? else {
                    continue;
                };
                let interface = &plan.nodes[far.node].interfaces[far.interface];
                let near_end = VethEnd {
                    name: &near_name(number, end),
                    netns: &lab_netns,
                    mtu: interface.mtu,
                    mac: mac(number, true),
                    offload: link.offload,
                    neighbours: false,
                };
                let segment = attached.get(far);
                let far_end = VethEnd {
                    name: &interface.name,
                    netns: &node.netns,
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
        Ok(Self {
            nodes,
            ends: open_ends(plan, &near)?,
            switching: switching(plan)?,
            lab_netns,
            near,
            captures: open_captures(plan)?,
        })
    }

    /// Starts the links on `thread`, with `zero` as the zero of their time and of their captures;
    /// what their middleboxes make of addresses is noted in `translations`, what the controller of
    /// the switches decides in `recorder`, and `failed` is called
    /// when the links cannot go on. What takes long has been done by
    /// [`Network::build`]: the run has begun.
    ///
    /// # Errors
    /// When a link's parameters are refused.
    pub fn start(
        self,
        plan: &Plan,
        (recorder, translations): (&Recorder, &Translations),
        thread: ReservedThread,
        zero: Instant,
        failed: impl FnOnce() + Send + 'static,
    ) -> io::Result<Links> {
        let epoch_ns = epoch_ns(zero)?;
        let mut taps = HashMap::new();
        let mut captures = Vec::new();
        for mut capture in self.captures {
            capture.tap.begin(epoch_ns);
            captures.push((capture.subject, capture.writer, capture.tap.lost()));
            taps.insert(capture.of, capture.tap);
        }
        let mut links = Vec::new();
        for (number, (link, ends)) in plan.links.iter().zip(self.ends).enumerate() {
            let InterfaceRef { node, interface } = link.ends[0];
            let mtu = plan.nodes[node].interfaces[interface].mtu;
            let boxes = Chain::new(&link.middleboxes, plan.seed, number);
            links.push(EmulatedLink {
                config: link.config.clone(),
                middleboxes: Middleboxes::new(boxes, mac(number, false), mtu, translations.clone()),
                seed: link_seed(plan.seed, number),
                ends,
                taps: link.ends.map(|end| taps.remove(&end)),
            });
        }
        let switches = self.switching.map(|(switching, warning)| {
            if let Some(text) = warning {
                recorder.warn(text);
            }
            let recorder = recorder.clone();
            let decided = Box::new(move |decision| recorder.decision(decision));
            Switches { switching, decided }
        });
        let emulator = Emulator::start(thread, links, switches, zero, failed)?;
        Ok(Links {
            lab_netns: self.lab_netns,
            emulator,
            captures,
            near: self.near,
            ends: plan.links.iter().map(|link| link.ends).collect(),
        })
    }
}

impl Links {
    /// A handle for the run's events.
    pub fn control(&self) -> NetworkControl {
        NetworkControl {
            lab_netns: self.lab_netns.clone(),
            emulator: self.emulator.control(),
            near: self.near.clone(),
            ends: self.ends.clone(),
        }
    }

    /// Ends the emulator and completes the captures.
    ///
    /// # Errors
    /// The error that ended the emulator, or that of writing a capture.
    pub fn stop(self, recorder: &Recorder) -> io::Result<Summary> {
        let summary = self.emulator.stop()?;
        for (name, writer, lost) in self.captures {
            writer
                .finish()
                .map_err(|error| within(&format!("capture of {name}"), error))?;
            let lost = lost.load(Ordering::Relaxed);
            if lost > 0 {
                recorder.warn(&format!(
                    "the capture of {name} lacks {lost} packets: the disk was too slow; capture \
                     fewer interfaces or bytes of each packet"
                ));
            }
        }
        Ok(summary)
    }
}

impl NetworkControl {
    /// The steps of carrying out an event, in their order. Events of one moment pass each stage
    /// together: removing a carrier takes the kernel some ten milliseconds.
    pub const STAGES: [Stage; 3] = [Self::change_link, Self::disconnect, Self::change_nodes];

    /// Changes the link model and tells the switches at it: packets that a host sends the moment its carrier is back find the link
    /// up.
    fn change_link(&self, action: &Action, _: &[Node]) -> io::Result<()> {
        match action {
            Action::Link {
                link,
                change,
                carrier,
            } => self.emulator.change(*link, change.clone(), *carrier),
            _ => Ok(()),
        }
    }

    /// Lets the nodes remove the addresses at cables that are disconnected.
    fn disconnect(&self, action: &Action, nodes: &[Node]) -> io::Result<()> {
        match *action {
            Action::Link {
                link,
                carrier: Some(false),
                ..
            } => self.set_plugged(link, false, nodes),
            _ => Ok(()),
        }
    }

    /// Changes carriers, interfaces and endpoints.
    fn change_nodes(&self, action: &Action, nodes: &[Node]) -> io::Result<()> {
        match *action {
            Action::Link { link, carrier, .. } => {
                let Some(up) = carrier else { return Ok(()) };
                for index in self.near[link].into_iter().flatten() {
                    self.lab_netns
                        .run(|| Rtnetlink::open()?.set_up(index, up))??;
                }
                if up {
                    self.set_plugged(link, true, nodes)?;
                }
                Ok(())
            }
            Action::Interface { interface, up } => {
                nodes[interface.node].set_up(interface.interface, up)
            }
            Action::Backup { interface, backup } => {
                nodes[interface.node].set_backup(interface.interface, backup)
            }
            // The applications do that.
            Action::Subflow { .. } => Ok(()),
        }
    }

    fn set_plugged(&self, link: usize, plugged: bool, nodes: &[Node]) -> io::Result<()> {
        self.ends[link]
            .iter()
            .try_for_each(|end| match nodes.get(end.node) {
                Some(node) => node.set_plugged(end.interface, plugged),
                // A switch has been told by the emulator.
                None => Ok(()),
            })
    }

    /// Writes a row for each direction of each link.
    ///
    /// # Errors
    /// When the emulator has ended or the reader of the rows has gone.
    pub fn sample(&self, plan: &Plan, recorder: &Recorder) -> io::Result<()> {
        let t_ns = recorder.now();
        for (link, states) in plan.links.iter().zip(self.emulator.state()?) {
            for (direction, state) in states.iter().enumerate() {
                let from = plan.subject(link.ends[direction]);
                let to = plan.subject(link.ends[1 - direction]);
                let row = LinkSample {
                    t_ns,
                    link: &link.name,
                    from: &from,
                    to: &to,
                    rate_bps: state.rate_bps,
                    counters: state.counters,
                    backlog: state.backlog,
                    overruns: state.overruns,
                };
                recorder.write(row)?;
            }
        }
        Ok(())
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

/// The run's zero in nanoseconds after the Unix epoch.
fn epoch_ns(zero: Instant) -> io::Result<u64> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_err(io::Error::other)?;
    Ok((now - zero.elapsed()).as_nanos() as u64)
}

fn within(place: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{place}: {error}"))
}
