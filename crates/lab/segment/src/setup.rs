//! Switches and controller as a plan has them. Port number *n* of a switch is interface *n* − 1 of
//! its node.

use std::collections::BTreeMap;

use mptcplab_controller::{Config, Controller, Policy, PortRef, TransferSize, policy};
use mptcplab_link::Rate;
use mptcplab_plan as plan;
use mptcplab_plan::{InterfaceRef, Plan, Sizes, Workload};
use mptcplab_random::{Purpose, Random};
use mptcplab_switch::{PortSetup, Switch};
use thiserror::Error;

use crate::decision::Names;
use crate::flow_entries::MOST_OF_SWITCH;
use crate::segments::{hardware_address, segments};

/// Payload of each time of a trace (Mahimahi): 1504 bytes.
const OPPORTUNITY_BITS: u64 = 8 * 1504;

/// Makes the policy of a plan's controller of a seed, in place of one of the controller's own.
pub type PolicySupply = fn(seed: u64) -> Box<dyn Policy>;

/// The policy of a plan's controller is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no policy {0:?}")]
pub struct UnknownPolicy(pub String);

/// The switch of each node that is one of ours, without entries and without a controller.
pub(crate) fn switches(plan: &Plan) -> Vec<Option<Switch>> {
    let nodes = plan.nodes.iter().enumerate();
    let switch = |(node, planned): (usize, &plan::Node)| {
        let datapath_id = planned
            .switch
            .filter(|one| !one.is_open_vswitch)?
            .datapath_id;
        let ports = 0..planned.interfaces.len();
        Some(Switch::new(mptcplab_switch::Config {
            datapath_id,
            ports: ports
                .map(|interface| port(plan, InterfaceRef { node, interface }))
                .collect(),
            description: planned.name.clone(),
            max_removed: MOST_OF_SWITCH,
            ..mptcplab_switch::Config::default()
        }))
    };
    nodes.map(switch).collect()
}

fn port(plan: &Plan, of: InterfaceRef) -> PortSetup {
    let number = number(of.interface);
    let mut setup = PortSetup {
        name: plan.nodes[of.node].interfaces[of.interface].name.clone(),
        ..PortSetup::new(number)
    };
    for (index, link) in plan.links.iter().enumerate() {
        if let Some(end) = link.ends.iter().position(|end| *end == of) {
            setup.hw_addr = hardware_address(index, end);
            if let Rate::Fixed { bits_per_second } = link.config.directions[end].rate {
                setup.speed_kbps = u32::try_from(bits_per_second / 1000).unwrap_or(u32::MAX);
            }
        }
    }
    setup
}

/// The number of the port at an interface of a switch.
pub(crate) fn number(interface: usize) -> u32 {
    interface as u32 + 1
}

/// The controller of a plan, with the policy that is supplied, or else that of the plan's name;
/// `None` where that is another one, outside.
pub(crate) fn controller(
    plan: &Plan,
    planned: &plan::Controller,
    supply: Option<impl FnOnce(u64) -> Box<dyn Policy>>,
) -> Result<Option<Controller>, UnknownPolicy> {
    let Some(name) = &planned.policy else {
        return Ok(None);
    };
    let mut random = Random::new(plan.seed, Purpose::Controller, 0);
    let seed = random.bits();
    let mut key = [0; 32];
    for word in key.as_chunks_mut::<8>().0 {
        *word = random.bits().to_le_bytes();
    }
    let policy = supply
        .map(|supply| supply(seed))
        .or_else(|| policy(name, seed))
        .ok_or_else(|| UnknownPolicy(name.clone()))?;
    let base = Config::default();
    let config = Config {
        key,
        seed,
        sizes: match planned.sizes {
            Sizes::Told => sizes(plan),
            Sizes::Learned | Sizes::Unknown => Vec::new(),
        },
        learn_sizes: planned.sizes == Sizes::Learned,
        tcp_fallback: planned.tcp_fallback,
        discovery_interval_ns: planned.link_probe_ns,
        link_rates_bps: rates(plan),
        // Rules take a round trip to be confirmed, and messages of others may stand before them.
        wait_ns: base
            .wait_ns
            .saturating_add(planned.channel_delay_ns.saturating_mul(8)),
        ..base
    };
    Ok(Some(Controller::new(config, policy)))
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

/// The number of links between switches, and of addresses of hosts and routers at switches.
pub(crate) fn to_be_known(plan: &Plan) -> (usize, usize) {
    let is_switch = |of: &InterfaceRef| plan.nodes[of.node].switch.is_some();
    let links = plan.links.iter();
    let between = links.filter(|link| link.ends.iter().all(is_switch));
    let attached = segments(plan).into_iter().flatten();
    let addresses = attached.map(|attached| attached.addresses(plan).count());
    (between.count(), addresses.sum())
}

/// The names of links and switches.
pub(crate) fn names(plan: &Plan) -> Names {
    let links = ports(plan).map(|(port, link, _)| (port, link.name.clone()));
    let switches = plan.nodes.iter().filter_map(|node| {
        let switch = node.switch?;
        Some((switch.datapath_id, node.name.clone()))
    });
    let nodes = plan.nodes.iter().enumerate();
    let nodes = nodes.filter(|(_, node)| node.switch.is_some());
    Names {
        links: links.collect(),
        switches: switches.collect(),
        nodes: nodes
            .map(|(number, node)| (number, node.name.clone()))
            .collect(),
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
