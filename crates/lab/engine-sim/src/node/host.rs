//! The settings of a host's transport layer, from the plan.

use mptcplab_plan as plan;
use mptcplab_plan::{EndpointFlags as Planned, Traffic, Workload};
use mptcplab_stack::scheduler::{SchedulerKind, Supply};
use mptcplab_stack::{
    BufferLimits, ConnectionId, EcnPolicy, EndpointFlags, Event, HostConfig, HostStack, Limits,
    LocalAddress, MptcpConfig, Protocol, Route, SocketOptions, WorkerTimes,
};
use mptcplab_traffic::verdict::Mib;

use crate::Nanos;
use crate::error::SimError;
use crate::node::Node;
use crate::response_times::{ANNOUNCING, JOINING};
use crate::supplies::Supplies;

/// Settings of a host's transport layer.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) mptcp: MptcpConfig,
    send_buffer: BufferLimits,
    receive_buffer: BufferLimits,
    ecn: EcnPolicy,
    clock_granularity_ns: Nanos,
    pacing: bool,
    supplies: Supplies,
}

impl Settings {
    /// The settings of a node of the plan.
    pub(crate) fn new(node: &plan::Node, supplies: &Supplies) -> Result<Self, SimError> {
        let refused = |problem| SimError::refused(format!("node {}", node.name), problem);
        let mut settings = Self {
            mptcp: mptcp(&node.mptcp, supplies.scheduler).map_err(refused)?,
            send_buffer: BufferLimits::SEND,
            receive_buffer: BufferLimits::RECEIVE,
            ecn: EcnPolicy::default(),
            clock_granularity_ns: node.clock_granularity_ns.max(1),
            pacing: node.pacing,
            supplies: supplies.clone(),
        };
        for (name, value) in &node.sysctls {
            settings.set(name, value).map_err(refused)?;
        }
        Ok(settings)
    }

    /// Applies a sysctl.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let refused = || format!("{name} cannot be {value:?}");
        match name {
            "net.ipv4.tcp_rmem" => self.receive_buffer = buffer(value).ok_or_else(refused)?,
            "net.ipv4.tcp_wmem" => self.send_buffer = buffer(value).ok_or_else(refused)?,
            "net.ipv4.tcp_ecn" => {
                self.ecn = match value.trim() {
                    "0" => EcnPolicy::Off,
                    "1" => EcnPolicy::Request,
                    "2" => EcnPolicy::Agree,
                    _ => return Err(refused()),
                }
            }
            _ => return Err(format!("the simulator has no sysctl {name}")),
        }
        Ok(())
    }

    /// Settings of its host stack.
    pub(crate) fn host_config(&self) -> HostConfig {
        HostConfig {
            mptcp: self.mptcp.clone(),
            clock_granularity_ns: self.clock_granularity_ns,
            ..HostConfig::default()
        }
    }

    /// Settings of a socket of a flow with this congestion control.
    pub(crate) fn socket(&self, traffic: &Traffic, name: &str) -> Result<SocketOptions, SimError> {
        let congestion_control = self.supplies.congestion_control(name).ok_or_else(|| {
            let problem = format!("the simulator has no congestion control {name:?}");
            SimError::refused(format!("traffic {}", traffic.name), problem)
        })?;
        Ok(SocketOptions {
            protocol: match traffic.protocol {
                plan::Protocol::Tcp => Protocol::Tcp,
                plan::Protocol::Mptcp => Protocol::Mptcp,
            },
            dual_stack: traffic.dual_stack,
            congestion_control,
            no_delay: matches!(
                traffic.workload,
                Workload::RequestResponse(_) | Workload::Stream { .. }
            ),
            send_buffer: self.send_buffer,
            receive_buffer: self.receive_buffer,
            ecn: self.ecn,
            pacing: self.pacing,
            ..SocketOptions::default()
        })
    }
}

/// The settings of MPTCP.
fn mptcp(planned: &plan::Mptcp, supply: Option<Supply>) -> Result<MptcpConfig, String> {
    let options = planned.scheduler_options;
    let default = MptcpConfig::default();
    Ok(MptcpConfig {
        enabled: planned.enabled,
        checksum: planned.checksum,
        limits: Limits {
            subflows: planned.limit_subflows,
            add_addr_accepted: planned.limit_add_addr_accepted,
            subflows_per_pair: planned.subflows_per_pair,
        },
        syns_before_fallback: planned
            .syn_retries
            .map_or(default.syns_before_fallback, |retries| {
                retries.saturating_add(1)
            }),
        scheduler: scheduler(planned, planned.scheduler.as_deref(), supply)?,
        opportunistic_retransmission: options.opportunistic_retransmission,
        penalisation: options.penalisation,
        worker_times: WorkerTimes {
            announcing_ns: &ANNOUNCING,
            joining_ns: &JOINING,
        },
        ..default
    })
}

/// The scheduler of a name, with the host's options.
///
/// # Errors
/// There is none of this name.
pub(crate) fn scheduler(
    planned: &plan::Mptcp,
    name: Option<&str>,
    supply: Option<Supply>,
) -> Result<SchedulerKind, String> {
    let options = planned.scheduler_options;
    Ok(match name.unwrap_or("default") {
        "default" => SchedulerKind::Default,
        "lowest-rtt" => SchedulerKind::LowestRtt,
        "round-robin" => SchedulerKind::RoundRobin {
            segments: options.num_segments,
            window_limited: options.cwnd_limited,
        },
        "redundant" => SchedulerKind::Redundant,
        "blest" => SchedulerKind::Blest,
        "ecf" => SchedulerKind::Ecf,
        "supplied" => match supply {
            Some(supply) => SchedulerKind::Supplied(supply),
            None => return Err("no scheduler was supplied".to_owned()),
        },
        name => return Err(format!("the simulator has no scheduler {name:?}")),
    })
}

/// The three numbers of `tcp_rmem` and `tcp_wmem`: smallest, initial and largest size.
fn buffer(value: &str) -> Option<BufferLimits> {
    let numbers: Option<Vec<u64>> = value.split_whitespace().map(|n| n.parse().ok()).collect();
    let &[_, initial_bytes, max_bytes] = &numbers?[..] else {
        return None;
    };
    Some(BufferLimits {
        initial_bytes,
        max_bytes,
    })
}

/// The usable addresses of a node, as its host stack takes them.
pub(crate) fn local_addresses(node: &Node) -> Vec<LocalAddress> {
    let flags = |flags: Planned| EndpointFlags {
        signal: flags.signal,
        subflow: flags.subflow,
        backup: flags.backup,
        fullmesh: flags.fullmesh,
    };
    node.addresses()
        .map(|(address, mtu, endpoint)| LocalAddress {
            address,
            mtu,
            endpoint: endpoint.map(flags),
        })
        .collect()
}

/// The routes of a node, as its host stack takes them.
pub(crate) fn routes(node: &Node) -> Vec<Route> {
    node.sources()
        .map(|(to, source)| Route {
            network: to.address,
            prefix_bits: to.length,
            source,
        })
        .collect()
}

/// The counters of a host stack, by the kernel's names.
pub(crate) fn mib(stack: &HostStack) -> Mib {
    let counters = stack.counters().into_iter();
    counters
        .map(|(name, value)| (name.to_owned(), value as i64))
        .collect()
}

/// The connection that an event is about.
pub(crate) fn connection_of(event: &Event) -> ConnectionId {
    match *event {
        Event::Connected { id }
        | Event::Accepted { id, .. }
        | Event::Readable { id }
        | Event::Writable { id }
        | Event::Finished { id }
        | Event::Closed { id, .. }
        | Event::SubflowEstablished { id, .. }
        | Event::SubflowClosed { id, .. }
        | Event::AddressAnnounced { id, .. }
        | Event::AddressRemoved { id, .. }
        | Event::Fallback { id, .. } => id,
    }
}
