//! The discovery of the network by its controller, before the run begins.
//!
//! The network is set up as it is in a run, and works without traffic until the controller knows
//! every link between switches and every address of hosts and routers at them. The switches and
//! the controller go into the run as they are then.

use std::collections::BTreeMap;

use mptcplab_controller::{Config, Controller, PortRef, TransferSize, policy};
use mptcplab_link::Rate;
use mptcplab_plan as plan;
use mptcplab_plan::{Plan, Sizes, Workload};
use mptcplab_random::{Purpose, Random};

use super::control::{Control, Names};
use super::switching::number;
use super::{Actor, Network};
use crate::Nanos;
use crate::error::SimError;
use crate::link::Link;
use crate::supplies::Supplies;

/// The network is taken as it is known then; the run warns.
const LONGEST_NS: Nanos = 10_000_000_000;
/// Payload of each time of a trace (Mahimahi): 1504 bytes.
const OPPORTUNITY_BITS: u64 = 8 * 1504;
/// Time between two announcements of the addresses.
const ANNOUNCEMENT_NS: Nanos = 1_000_000_000;

impl Network {
    /// The network of a plan at time 0, in which every address is usable, and switches and their
    /// controller have found each other.
    pub(crate) fn new(plan: &Plan, supplies: &Supplies) -> Result<Self, SimError> {
        let mut network = Self::unconnected(plan, supplies)?;
        if let Some(planned) = &plan.controller {
            let mut before = Self::unconnected(plan, supplies)?;
            let controller = controller(plan, planned)?;
            before.connect_controller(Control::new(controller, planned, names(plan)));
            let is_known = before.discover();
            let epoch_ns = before.now;
            network.switches = before.switches;
            network.control = before.control;
            network.begin_control(epoch_ns);
            if !is_known {
                let text = "the controller of the switches had not found all of them, their links \
                            and the hosts within 10 s; the run began without";
                network.recorder.warn(text);
            }
        }
        network.open_captures(plan)?;
        Ok(network)
    }

    /// Lets the network work until its controller knows it, and nothing is on its way; false
    /// where that takes too long.
    fn discover(&mut self) -> bool {
        let mut announce_at = 0;
        while let Some((time, actor)) = self.next_actor()
            && time <= LONGEST_NS
        {
            if self.is_quiet() && self.is_known() {
                return true;
            }
            self.now = self.now.max(time);
            // Switches drop what comes before the controller has connected.
            if self.now >= announce_at {
                self.announce_all();
                announce_at = self.now + ANNOUNCEMENT_NS;
            }
            match actor {
                Actor::Link(link) => self.poll_link(link),
                Actor::Node(node) => self.act_node(node),
                Actor::Controller => self.act_controller(),
                Actor::Timeline | Actor::Limit | Actor::Flow(_) | Actor::Sampler => {}
            }
            while let Some(node) = self.take_dirty() {
                self.transmit(node);
            }
        }
        // Where messages take long, some always are on their way.
        self.is_known()
    }

    /// Makes the addresses of all interfaces on segments known.
    fn announce_all(&mut self) {
        for node in 0..self.nodes.len() {
            for interface in 0..self.nodes[node].interfaces.len() {
                self.announce(node, interface);
            }
        }
    }

    /// Whether no frame and no message is on its way.
    fn is_quiet(&self) -> bool {
        let links = self.links.iter().all(|link| link.deadline().is_none());
        links && self.control.as_ref().is_none_or(Control::is_quiet)
    }

    /// Whether the controller has found every link between switches and every address at them.
    fn is_known(&self) -> bool {
        let Some(control) = &self.control else {
            return true;
        };
        let is_inner = |link: &&Link| {
            let mut ends = link.ends.iter();
            ends.all(|of| self.nodes[of.node].is_switch)
        };
        let links = self.links.iter().filter(is_inner).count();
        let interfaces = self.nodes.iter().flat_map(|node| &node.interfaces);
        let addresses: usize = interfaces
            .filter(|interface| interface.ethernet.is_some())
            .map(|interface| interface.planned.addresses.len())
            .sum();
        let known = control.controller.topology();
        // The controller has each link twice, once a direction.
        known.links.len() >= 2 * links && known.hosts.len() >= addresses
    }
}

/// The controller of a plan.
fn controller(plan: &Plan, planned: &mptcplab_plan::Controller) -> Result<Controller, SimError> {
    let mut random = Random::new(plan.seed, Purpose::Controller, 0);
    let seed = random.bits();
    let mut key = [0; 32];
    for word in key.as_chunks_mut::<8>().0 {
        *word = random.bits().to_le_bytes();
    }
    let Some(policy) = policy(&planned.policy, seed) else {
        let problem = format!("there is no policy {:?}", planned.policy);
        return Err(SimError::refused("the controller", problem));
    };
    let base = Config::default();
    let config = Config {
        key,
        seed,
        sizes: match planned.sizes {
            Sizes::Told => sizes(plan),
            Sizes::Learned | Sizes::Unknown => Vec::new(),
        },
        // Rules take a round trip to be confirmed, and messages of others may stand before them.
        wait_ns: base.wait_ns + 8 * planned.channel_delay_ns,
        learn_sizes: planned.sizes == Sizes::Learned,
        link_rates_bps: rates(plan),
        ..base
    };
    Ok(Controller::new(config, policy))
}

/// The ports of switches, with the link and the end of it that each is at.
fn ports(plan: &Plan) -> impl Iterator<Item = (PortRef, &plan::Link, usize)> {
    let ends = plan.links.iter().flat_map(|link| [(link, 0), (link, 1)]);
    ends.filter_map(|(link, end)| {
        let of = link.ends[end];
        let switch = plan.nodes[of.node].switch?;
        let port = PortRef::new(switch.datapath_id, number(of.interface));
        Some((port, link, end))
    })
}

fn names(plan: &Plan) -> Names {
    let links = ports(plan).map(|(port, link, _)| (port, link.name.clone()));
    let switches = plan.nodes.iter().filter_map(|node| {
        let switch = node.switch?;
        Some((switch.datapath_id, node.name.clone()))
    });
    Names {
        links: links.collect(),
        switches: switches.collect(),
    }
}

/// The rates of links, by the ports that send.
fn rates(plan: &Plan) -> BTreeMap<PortRef, u64> {
    let rates = ports(plan).filter_map(|(port, link, end)| {
        let rate_bps = mean_rate_bps(&link.config.directions[end].rate)?;
        Some((port, rate_bps))
    });
    rates.collect()
}

/// The rate of a direction in the mean of its time; `None` where it has no limit.
fn mean_rate_bps(rate: &Rate) -> Option<u64> {
    match rate {
        Rate::Unlimited => None,
        Rate::Fixed { bits_per_second } => Some(*bits_per_second),
        Rate::Trace { opportunities_ms } => {
            let period_ms = (*opportunities_ms.last()?).max(1);
            let bits = opportunities_ms.len() as u64 * OPPORTUNITY_BITS;
            Some(bits * 1000 / period_ms)
        }
    }
}

/// The sizes of the transfers of a plan that have one.
fn sizes(plan: &Plan) -> Vec<TransferSize> {
    let sized = plan.traffic.iter().filter_map(|traffic| {
        let bytes = match traffic.workload {
            Workload::Http { bytes, .. } => bytes,
            Workload::Bulk { bytes, .. } => bytes?,
            _ => return None,
        };
        Some(TransferSize {
            server: traffic.target,
            port: traffic.port,
            bytes,
        })
    });
    sized.collect()
}
