//! The network of a plan: nodes, pairs of interfaces, and the emulator between them.
//!
//! Each end of a link is a pair of virtual interfaces: one in its node, the other in the lab's own
//! namespace, where the emulator takes and puts frames. Shaping therefore happens inside the
//! network and never on a sending host.

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

use crate::capture;
use crate::emulator::{Control, EmulatedLink, Emulator, Middleboxes, Summary};
use crate::frames::port::{Interface, Port};
use crate::netns::NetNs;
use crate::node::Node;
use crate::plan::{Action, InterfaceRef, Plan};
use crate::realtime::ReservedThread;
use crate::record::Recorder;
use crate::sysctl;
use crate::translations::Translations;

/// Every node and link of a plan, before its start.
pub struct Network {
    /// The nodes, in the order of the plan.
    pub nodes: Vec<Node>,
    ports: Vec<[Port; 2]>,
    lab_netns: NetNs,
    /// The lab's own side of each link's interfaces, by their index.
    near: Vec<[u32; 2]>,
    captures: Vec<Capture>,
}

/// The links of a network, carrying packets.
pub struct Links {
    lab_netns: NetNs,
    emulator: Emulator,
    captures: Vec<(String, capture::Writer, Arc<AtomicU64>)>,
    near: Vec<[u32; 2]>,
    ends: Vec<[InterfaceRef; 2]>,
}

/// A step of carrying out an event.
pub type Stage = fn(&NetworkControl, &Action, &[Node]) -> io::Result<()>;

/// A handle by which the events of a run change the network.
#[derive(Clone)]
pub struct NetworkControl {
    lab_netns: NetNs,
    emulator: Control,
    near: Vec<[u32; 2]>,
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
        let nodes = plan
            .nodes
            .iter()
            .enumerate()
            .map(|(index, node)| {
                let bits = Random::new(plan.seed, Purpose::Routes, index).bits();
                let flow_seed = (bits as u32).max(1);
                Node::start(node, flow_seed).map_err(|error| within(&node.name, error))
            })
            .collect::<io::Result<Vec<_>>>()?;
        let mut rtnetlink = Rtnetlink::open()?;
        let lab_netns = NetNs::current()?;
        for (number, link) in plan.links.iter().enumerate() {
            for (end, far) in link.ends.iter().enumerate() {
                let interface = &plan.nodes[far.node].interfaces[far.interface];
                let near_end = VethEnd {
                    name: &near_name(number, end),
                    netns: &lab_netns,
                    mtu: interface.mtu,
                    mac: mac(number, true),
                    offload: link.offload,
                };
                let far_end = VethEnd {
                    name: &interface.name,
                    netns: &nodes[far.node].netns,
                    mac: mac(number, false),
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
        let near: Vec<[u32; 2]> = (0..plan.links.len())
            .map(|number| [0, 1].map(|end| indices[&near_name(number, end)]))
            .collect();
        for index in near.iter().flatten() {
            rtnetlink.set_up(*index, true)?;
        }
        let interfaces: Vec<Interface> = plan
            .links
            .iter()
            .zip(&near)
            .flat_map(|(link, near)| {
                [0, 1].map(|end| {
                    let far = link.ends[end];
                    Interface {
                        index: near[end],
                        mtu: plan.nodes[far.node].interfaces[far.interface].mtu,
                        offload: link.offload,
                    }
                })
            })
            .collect();
        let mut opened = Port::open_all(&interfaces)?.into_iter();
        let ports = std::iter::from_fn(|| Some([opened.next()?, opened.next()?])).collect();
        Ok(Self {
            nodes,
            ports,
            lab_netns,
            near,
            captures: open_captures(plan)?,
        })
    }

    /// Starts the links on `thread`, with `zero` as the zero of their time and of their captures;
    /// what their middleboxes make of addresses is noted in `translations`, and `failed` is called
    /// when the links cannot go on. What takes long has been done by
    /// [`Network::build`]: the run has begun.
    ///
    /// # Errors
    /// When a link's parameters are refused.
    pub fn start(
        self,
        plan: &Plan,
        translations: &Translations,
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
        for (number, (link, ports)) in plan.links.iter().zip(self.ports).enumerate() {
            let InterfaceRef { node, interface } = link.ends[0];
            let mtu = plan.nodes[node].interfaces[interface].mtu;
            let boxes = Chain::new(&link.middleboxes, plan.seed, number);
            links.push(EmulatedLink {
                config: link.config.clone(),
                middleboxes: Middleboxes::new(boxes, mac(number, false), mtu, translations.clone()),
                // Far enough apart that the links of one repetition share no stream with another's.
                seed: plan.seed.wrapping_mul(1 << 16).wrapping_add(number as u64),
                ports,
                taps: link.ends.map(|end| taps.remove(&end)),
            });
        }
        let emulator = Emulator::start(thread, links, zero, failed)?;
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

    /// Changes the link model: packets that a host sends the moment its carrier is back find the link
    /// up.
    fn change_link(&self, action: &Action, _: &[Node]) -> io::Result<()> {
        match action {
            Action::Link { link, change, .. } => self.emulator.change(*link, change.clone()),
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
                for index in self.near[link] {
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
            .try_for_each(|end| nodes[end.node].set_plugged(end.interface, plugged))
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

/// A capture that is open.
struct Capture {
    of: InterfaceRef,
    subject: String,
    tap: capture::Tap,
    writer: capture::Writer,
}

fn open_captures(plan: &Plan) -> io::Result<Vec<Capture>> {
    let Some(wanted) = &plan.capture else {
        return Ok(Vec::new());
    };
    let open = |&of: &InterfaceRef| {
        let subject = plan.subject(of);
        let path = wanted.file(&subject);
        let (tap, writer) = capture::start(&path, &subject, wanted.snap_length)
            .map_err(|error| within(&path.display().to_string(), error))?;
        Ok(Capture {
            of,
            subject,
            tap,
            writer,
        })
    };
    wanted.interfaces.iter().map(open).collect()
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
