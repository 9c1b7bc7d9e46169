//! A meeting of the kernel's stack and ours, over two paths.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mptcplab_engine_sim::World;
use mptcplab_link::{DirectionConfig, LinkConfig, QueueConfig, Rate};
use mptcplab_live::Live;
use mptcplab_plan::{
    EndpointFlags, Interface, InterfaceRef, Link, Middlebox, Mptcp, Node, Plan, Prefix,
    SchedulerOptions,
};
use mptcplab_stack::{Protocol, SocketOptions, SubflowInfo};

use crate::application::Application;
use crate::kernel::{Deed, Kernel, PORT, Work};

/// Numbers of the nodes.
const KERNEL: usize = 0;
/// See [`KERNEL`].
pub(crate) const OURS: usize = 1;
/// See [`KERNEL`].
const ROUTER: usize = 2;
/// A meeting that lasts longer has failed. Nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(90);

/// The end that opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opener {
    Kernel,
    Ours,
}

/// Both, one after the other.
pub(crate) const BOTH: [Opener; 2] = [Opener::Kernel, Opener::Ours];

/// Two hosts with two paths between them, and what their applications do.
pub(crate) struct Meeting {
    pub(crate) plan: Plan,
    opener: Opener,
    /// Task of the kernel's application.
    pub(crate) deed: Deed,
    /// Our application.
    pub(crate) application: Application,
}

/// A meeting that is going on.
pub(crate) struct Now<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) kernel: &'a Kernel,
    pub(crate) application: &'a mut Application,
}

/// How it ended.
pub(crate) struct End {
    pub(crate) kernel: Kernel,
    pub(crate) application: Application,
    /// Bytes that the kernel's application received, all exact.
    pub(crate) received: std::io::Result<u64>,
}

impl Meeting {
    /// Both send so many bytes. The server has one address; the client has two, each with a link
    /// of its own to the server's router.
    pub(crate) fn new(opener: Opener, bytes: u64) -> Self {
        let (client, server) = match opener {
            Opener::Kernel => (KERNEL, OURS),
            Opener::Ours => (OURS, KERNEL),
        };
        let mut nodes = [
            node("kernel", false),
            node("ours", false),
            node("router", true),
        ];
        let mut links = Vec::new();
        for (name, from, to, network) in [
            ("path1", client, ROUTER, 1),
            ("path2", client, ROUTER, 2),
            ("server", ROUTER, server, 9),
        ] {
            links.push(link(name, &mut nodes, [from, to], network));
        }
        Self::with(opener, bytes, nodes.to_vec(), links)
    }

    /// The same between two hosts of two addresses each, with two links between them.
    pub(crate) fn side_by_side(opener: Opener, bytes: u64) -> Self {
        let mut nodes = [node("kernel", false), node("ours", false)];
        let links = [("path1", 1), ("path2", 2)]
            .map(|(name, network)| link(name, &mut nodes, [KERNEL, OURS], network));
        Self::with(opener, bytes, nodes.to_vec(), links.to_vec())
    }

    fn with(opener: Opener, bytes: u64, nodes: Vec<Node>, links: Vec<Link>) -> Self {
        Self {
            plan: Plan {
                seed: 1,
                nodes,
                links,
                traffic: Vec::new(),
                events: Vec::new(),
                sample_interval_ns: 1_000_000_000,
                capture: None,
                time_limit_ns: 1_000_000_000_000,
                controller: None,
            },
            opener,
            deed: Deed::Exchange(bytes),
            application: Application {
                to_send: bytes,
                ..Application::default()
            },
        }
    }

    /// Sets the flags of the kernel's endpoint for its second address.
    pub(crate) fn kernel_endpoint(mut self, flags: EndpointFlags) -> Self {
        self.plan.nodes[KERNEL].interfaces[1].endpoint = Some(flags);
        self
    }

    /// Sets the flags of our endpoint for the second address.
    pub(crate) fn our_endpoint(mut self, flags: EndpointFlags) -> Self {
        self.plan.nodes[OURS].interfaces[1].endpoint = Some(flags);
        self
    }

    /// Puts a box into the first path.
    pub(crate) fn middlebox(self, middlebox: Middlebox) -> Self {
        self.middlebox_in(0, middlebox)
    }

    /// Puts a box into a link.
    pub(crate) fn middlebox_in(mut self, link: usize, middlebox: Middlebox) -> Self {
        self.plan.links[link].middleboxes.push(middlebox);
        self
    }

    /// Both ends want checksums of the data.
    pub(crate) fn with_checksums(mut self) -> Self {
        for node in &mut self.plan.nodes {
            node.mptcp.checksum = true;
        }
        self
    }

    /// Packets have 700 bytes at most.
    pub(crate) fn small_packets(mut self) -> Self {
        let interfaces = self
            .plan
            .nodes
            .iter_mut()
            .flat_map(|node| &mut node.interfaces);
        interfaces.for_each(|interface| interface.mtu = 700);
        self
    }

    /// Changes both directions of both paths.
    pub(crate) fn paths(mut self, change: impl Fn(&mut DirectionConfig)) -> Self {
        for link in &mut self.plan.links[..2] {
            link.config.directions.iter_mut().for_each(&change);
        }
        self
    }

    /// Uses IPv6: fd00:0:0:x::y in place of 10.0.x.y.
    pub(crate) fn over_ipv6(mut self) -> Self {
        let convert = |address: &mut IpAddr| {
            if let IpAddr::V4(old) = *address {
                let [_, _, network, host] = old.octets().map(u16::from);
                *address = [0xfd00, 0, 0, network, 0, 0, 0, host].into();
            }
        };
        let interfaces = self
            .plan
            .nodes
            .iter_mut()
            .flat_map(|node| &mut node.interfaces);
        for interface in interfaces {
            interface.gateways.iter_mut().for_each(convert);
            for prefix in &mut interface.addresses {
                convert(&mut prefix.address);
                prefix.length = 64;
            }
        }
        self
    }

    /// Our application sends the second half only once `hold` is taken back.
    pub(crate) fn held(mut self) -> Self {
        self.application.hold = true;
        self
    }

    /// Runs the meeting to the end of both applications. `during` is called all the time.
    pub(crate) fn run(mut self, mut during: impl FnMut(&mut Now<'_>)) -> End {
        let (kernel, devices) = Kernel::new(&self.plan.nodes[KERNEL]);
        let mut world = World::new(&self.plan).expect("the plan can be simulated");
        let work = self.start(&kernel, &mut world);
        let mut live = Live::new(world, KERNEL, devices);
        let start = Instant::now();
        let application = &mut self.application;
        live.run(|world| {
            let events = world.take_events(OURS);
            world.with_stack(OURS, |stack, now| application.act(stack, now, events));
            during(&mut Now {
                world,
                kernel: &kernel,
                application,
            });
            let told_end = application.finished || application.closed.is_some();
            if work.is_finished() && told_end {
                return ControlFlow::Break(());
            }
            assert!(
                start.elapsed() < PATIENCE,
                "the meeting does not end: the kernel's application has finished: {}, ours: \
                 {application:?}",
                work.is_finished(),
            );
            ControlFlow::Continue(())
        })
        .expect("the devices are there");
        End {
            received: work.join().expect("it does not panic"),
            application: self.application,
            kernel,
        }
    }

    fn start(&mut self, kernel: &Kernel, world: &mut World) -> Work {
        let address = |node: usize| self.plan.nodes[node].interfaces[0].addresses[0].address;
        let options = SocketOptions {
            protocol: Protocol::Mptcp,
            ..SocketOptions::default()
        };
        match self.opener {
            Opener::Kernel => {
                world.with_stack(OURS, |stack, _| stack.listen(PORT, options));
                kernel.connect(address(KERNEL), address(OURS), self.deed)
            }
            Opener::Ours => {
                let work = kernel.listen(address(KERNEL), self.deed);
                let remote = (address(KERNEL), PORT).into();
                self.application.id = world.with_stack(OURS, |stack, now| {
                    stack.connect(now, address(OURS), remote, options)
                });
                work
            }
        }
    }
}

impl Now<'_> {
    /// Payload sent and received on each subflow of our end, in the order in which they came.
    pub(crate) fn bytes_by_subflow(&self) -> Vec<[u64; 2]> {
        self.subflows()
            .map(|subflow| [subflow.tcp.bytes_sent, subflow.tcp.bytes_received])
            .collect()
    }

    /// Subflows of our end that are backups.
    pub(crate) fn backups(&self) -> usize {
        self.subflows()
            .filter(|subflow| subflow.backup == Some(true))
            .count()
    }

    fn subflows(&self) -> impl Iterator<Item = SubflowInfo> + '_ {
        let stack = self.world.stack(OURS).expect("a host has one");
        let id = self.application.id.into_iter();
        id.flat_map(|id| stack.subflows(id))
    }

    /// Lets our application send the rest once this is true.
    pub(crate) fn go_on_if(&mut self, ready: bool) {
        if ready {
            self.application.hold = false;
        }
    }
}

impl End {
    /// Asserts that each application received all that the other sent, and both ends.
    pub(crate) fn assert_exchanged(&self, bytes: u64) {
        assert_eq!(
            *self.received.as_ref().expect("an exchange"),
            bytes,
            "received by the kernel"
        );
        assert_eq!(self.application.received, bytes, "received by us");
        assert!(self.application.finished);
    }

    /// Asserts that the connection spoke MPTCP to its end.
    pub(crate) fn assert_multipath(&self) {
        assert_eq!(self.application.spoken, Some(Protocol::Mptcp));
        assert_eq!(self.application.fallback(), None);
    }
}

fn node(name: &str, router: bool) -> Node {
    Node {
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
            limit_subflows: 4,
            limit_add_addr_accepted: 4,
            by_application: false,
        },
        clock_granularity_ns: 1,
        pacing: false,
        sysctls: BTreeMap::new(),
    }
}

/// Joins two nodes in the network 10.0.x.0/24, where node y has the address 10.0.x.(y + 1).
fn link(name: &str, nodes: &mut [Node], ends: [usize; 2], network: u8) -> Link {
    let address = |node: usize| IpAddr::from([10, 0, network, node as u8 + 1]);
    let ends = [ends, [ends[1], ends[0]]].map(|[node, other]| {
        let is_host = !nodes[node].router;
        nodes[node].interfaces.push(Interface {
            name: name.to_owned(),
            addresses: vec![Prefix {
                address: address(node),
                length: 24,
            }],
            gateways: Vec::from_iter(is_host.then(|| address(other))),
            mtu: 1500,
            address_delay_ns: 0,
            endpoint: None,
        });
        InterfaceRef {
            node,
            interface: nodes[node].interfaces.len() - 1,
        }
    });
    let direction = DirectionConfig {
        rate: Rate::Fixed {
            bits_per_second: 40_000_000,
        },
        delay_ns: 5_000_000,
        queue: QueueConfig {
            limit_bytes: Some(200_000),
            ..QueueConfig::default()
        },
        ..DirectionConfig::default()
    };
    Link {
        name: name.to_owned(),
        ends,
        config: LinkConfig {
            directions: [direction.clone(), direction],
            ..LinkConfig::default()
        },
        offload: false,
        middleboxes: Vec::new(),
    }
}
