//! Plans from code, and runs of them.

#![allow(dead_code)] // Each test uses a part of it.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;

use mptcplab_engine_sim::{Counts, simulate};
use mptcplab_link::{DirectionConfig, LinkConfig, QueueConfig, Rate};
use mptcplab_plan::{
    Action, EndpointFlags, Event, Interface, InterfaceRef, Link, Middlebox, Mptcp, Node, Plan,
    Prefix, Protocol, Route, SchedulerOptions, Traffic, Way, Workload,
};
use serde_json::Value;

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

/// Settings of a link, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rate_bps: u64,
    pub(crate) delay_ns: u64,
    /// Packets that wait at most.
    pub(crate) queue_bytes: u64,
}

impl Path {
    /// A link with a queue of one product of rate and round trip, and at least 16 packets.
    pub(crate) fn new(rate_bps: u64, delay_ns: u64) -> Self {
        let product = u128::from(rate_bps) * 2 * u128::from(delay_ns) / (8 * 1_000_000_000);
        Self {
            rate_bps,
            delay_ns,
            queue_bytes: (product as u64).max(24_000),
        }
    }

    pub(crate) fn config(self) -> LinkConfig {
        let direction = DirectionConfig {
            rate: Rate::Fixed {
                bits_per_second: self.rate_bps,
            },
            delay_ns: self.delay_ns,
            queue: QueueConfig {
                limit_bytes: Some(self.queue_bytes),
                ..QueueConfig::default()
            },
            ..DirectionConfig::default()
        };
        LinkConfig {
            directions: [direction.clone(), direction],
            ..LinkConfig::default()
        }
    }
}

/// A plan that grows.
#[derive(Clone, Debug)]
pub(crate) struct Lab {
    pub(crate) plan: Plan,
}

impl Lab {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            plan: Plan {
                seed,
                nodes: Vec::new(),
                links: Vec::new(),
                traffic: Vec::new(),
                events: Vec::new(),
                sample_interval_ns: 100 * MS,
                capture: None,
                time_limit_ns: 1000 * SECOND,
                controller: None,
            },
        }
    }

    /// Client (node 0) and server (node 1), joined by these paths; the client opens a subflow from
    /// each of its addresses.
    pub(crate) fn with_paths(seed: u64, paths: &[Path]) -> Self {
        let mut lab = Self::new(seed);
        let (client, server) = (lab.node("client", false), lab.node("server", false));
        for (index, path) in paths.iter().enumerate() {
            lab.link(client, server, &format!("p{index}"), path.config());
        }
        lab.open_subflows(client);
        lab.announce(server);
        lab
    }

    /// Lets a host announce all its addresses.
    pub(crate) fn announce(&mut self, node: usize) {
        for interface in &mut self.plan.nodes[node].interfaces {
            interface.endpoint = Some(EndpointFlags {
                signal: true,
                ..EndpointFlags::default()
            });
        }
    }

    /// Lets a host open a subflow from each of its addresses.
    pub(crate) fn open_subflows(&mut self, node: usize) {
        for interface in &mut self.plan.nodes[node].interfaces {
            interface.endpoint = Some(EndpointFlags {
                subflow: true,
                fullmesh: true,
                ..EndpointFlags::default()
            });
        }
    }

    pub(crate) fn node(&mut self, name: &str, router: bool) -> usize {
        self.plan.nodes.push(Node {
            name: name.to_owned(),
            router,
            switch: None,
            interfaces: Vec::new(),
            routes: Vec::new(),
            mptcp: Mptcp {
                enabled: true,
                checksum: false,
                syn_retries: None,
                scheduler: None,
                scheduler_options: SchedulerOptions::default(),
                subflows_per_pair: 1,
                limit_subflows: 8,
                limit_add_addr_accepted: 8,
                by_application: false,
            },
            clock_granularity_ns: 1,
            pacing: false,
            sysctls: BTreeMap::new(),
        });
        self.plan.nodes.len() - 1
    }

    /// Joins two nodes by a link with a network of its own: 10.x.y.0/24, where the first has .1 and
    /// the second .2. A host whose link leads to a router has it as its gateway.
    pub(crate) fn link(
        &mut self,
        one: usize,
        other: usize,
        name: &str,
        config: LinkConfig,
    ) -> usize {
        let number = self.plan.links.len();
        let address =
            |last: u8| IpAddr::V4(Ipv4Addr::new(10, (number >> 8) as u8, number as u8, last));
        let ends = [(one, 1, other), (other, 2, one)].map(|(node, last, peer)| {
            let is_host = !self.plan.nodes[node].router;
            let has_gateway = is_host && self.plan.nodes[peer].router;
            let interfaces = &mut self.plan.nodes[node].interfaces;
            interfaces.push(Interface {
                name: name.to_owned(),
                addresses: vec![Prefix {
                    address: address(last),
                    length: 24,
                }],
                gateways: Vec::from_iter(has_gateway.then(|| address(3 - last))),
                mtu: 1500,
                address_delay_ns: 0,
                endpoint: None,
            });
            InterfaceRef {
                node,
                interface: interfaces.len() - 1,
            }
        });
        self.plan.links.push(Link {
            name: name.to_owned(),
            ends,
            config,
            offload: false,
            middleboxes: Vec::new(),
        });
        number
    }

    /// Address of a node on a link.
    pub(crate) fn address(&self, link: usize, end: usize) -> IpAddr {
        let of = self.plan.links[link].ends[end];
        let interface = &self.plan.nodes[of.node].interfaces[of.interface];
        interface.addresses[0].address
    }

    /// The first address of a node.
    pub(crate) fn address_of(&self, node: usize) -> IpAddr {
        self.plan.nodes[node].interfaces[0].addresses[0].address
    }

    /// Gives every router all shortest ways to every link's network.
    pub(crate) fn add_routes(&mut self) {
        let routers: Vec<usize> = (0..self.plan.nodes.len())
            .filter(|&node| self.plan.nodes[node].router)
            .collect();
        // Neighbours of each node: (neighbour, its address on the link).
        let mut neighbours = vec![Vec::new(); self.plan.nodes.len()];
        for (number, link) in self.plan.links.iter().enumerate() {
            let [one, other] = link.ends;
            neighbours[one.node].push((other.node, self.address(number, 1)));
            neighbours[other.node].push((one.node, self.address(number, 0)));
        }
        for number in 0..self.plan.links.len() {
            let ends = self.plan.links[number].ends;
            let mut distance = vec![usize::MAX; self.plan.nodes.len()];
            let mut queue = VecDeque::new();
            for end in ends {
                distance[end.node] = 0;
                if self.plan.nodes[end.node].router {
                    queue.push_back(end.node);
                }
            }
            while let Some(node) = queue.pop_front() {
                for &(next, _) in &neighbours[node] {
                    if distance[next] == usize::MAX && self.plan.nodes[next].router {
                        distance[next] = distance[node] + 1;
                        queue.push_back(next);
                    }
                }
            }
            let address = self.address(number, 0);
            for &router in routers.iter().filter(|&&router| distance[router] > 0) {
                for &(next, via) in &neighbours[router] {
                    let is_nearer = distance[next] < distance[router];
                    if is_nearer && self.plan.nodes[next].router {
                        let to = Prefix {
                            address,
                            length: 24,
                        };
                        self.plan.nodes[router].routes.push(Route { to, via });
                    }
                }
            }
        }
    }

    /// Traffic from the first node to the second, unless changed.
    pub(crate) fn traffic(&mut self, protocol: Protocol, workload: Workload) -> &mut Traffic {
        let number = self.plan.traffic.len();
        let target = self.address_of(1);
        self.plan.traffic.push(Traffic {
            name: format!("t{number}"),
            client: 0,
            server: 1,
            protocol,
            source: None,
            target,
            port: 5001 + number as u16,
            start_ns: 0,
            congestion_control: "cubic".to_owned(),
            server_congestion_control: "cubic".to_owned(),
            dual_stack: false,
            expected_joins: 0,
            subflows: Vec::new(),
            workload,
        });
        &mut self.plan.traffic[number]
    }

    pub(crate) fn bulk_bytes(&mut self, protocol: Protocol, way: Way, bytes: u64) -> &mut Traffic {
        self.traffic(
            protocol,
            Workload::Bulk {
                way,
                streams: 1,
                duration_ns: None,
                bytes: Some(bytes),
                rate_bps: None,
            },
        )
    }

    pub(crate) fn bulk_for(
        &mut self,
        protocol: Protocol,
        way: Way,
        duration_ns: u64,
    ) -> &mut Traffic {
        self.traffic(
            protocol,
            Workload::Bulk {
                way,
                streams: 1,
                duration_ns: Some(duration_ns),
                bytes: None,
                rate_bps: None,
            },
        )
    }

    pub(crate) fn event(&mut self, at_ns: u64, action: Action) {
        let label = format!("event {}", self.plan.events.len());
        self.plan.events.push(Event {
            at_ns,
            action,
            label,
        });
    }

    pub(crate) fn middlebox(&mut self, link: usize, middlebox: Middlebox) {
        self.plan.links[link].middleboxes.push(middlebox);
    }

    /// Runs the plan to its end.
    pub(crate) fn run(&self) -> Run {
        let (lines, counts) = self.simulate();
        Run::new(lines, counts)
    }

    /// The rows of a run, as they are written, and what it cost.
    pub(crate) fn simulate(&self) -> (Vec<u8>, Counts) {
        let mut lines = Vec::new();
        let mut sink = |chunk: &[u8]| {
            lines.extend_from_slice(chunk);
            ControlFlow::Continue(())
        };
        let counts = simulate(&self.plan, &mut sink).expect("the plan can be simulated");
        (lines, counts)
    }
}

/// Rows of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) lines: Vec<u8>,
    pub(crate) rows: Vec<Value>,
    pub(crate) counts: Counts,
}

impl Run {
    pub(crate) fn new(lines: Vec<u8>, counts: Counts) -> Self {
        let rows = serde_json::Deserializer::from_slice(&lines).into_iter();
        Self {
            rows: rows.collect::<Result<_, _>>().expect("rows are JSON lines"),
            lines,
            counts,
        }
    }

    /// Rows of a table.
    pub(crate) fn table(&self, name: &str) -> Vec<&Value> {
        let rows = self.rows.iter();
        rows.filter(|row| row["record"] == name).collect()
    }

    pub(crate) fn transfers(&self) -> Vec<&Value> {
        self.table("transfers")
    }

    /// The only transfer, which must not have failed.
    pub(crate) fn transfer(&self) -> &Value {
        let [transfer] = self.transfers()[..] else {
            panic!("not one transfer: {:?}", self.transfers());
        };
        assert_eq!(transfer["error"], Value::Null, "{transfer}");
        transfer
    }

    pub(crate) fn warnings(&self) -> Vec<&str> {
        let rows = self.table("warning").into_iter();
        rows.filter_map(|row| row["text"].as_str()).collect()
    }

    /// A counter of a node; 0 where it is not told.
    pub(crate) fn counter(&self, node: &str, name: &str) -> i64 {
        self.table("counters")
            .into_iter()
            .find(|row| row["node"] == node && row["name"] == name)
            .and_then(|row| row["value"].as_i64())
            .unwrap_or(0)
    }
}

/// Payload a second of a transfer, from its start to its end.
pub(crate) fn goodput_bps(transfer: &Value) -> f64 {
    let number = |name: &str| transfer[name].as_u64().expect("a number") as f64;
    number("bytes") * 8e9 / (number("end_ns") - number("start_ns"))
}
