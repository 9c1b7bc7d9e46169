//! A small world for tests: a client and a server in namespaces of their own, joined by two pairs
//! of interfaces, inside a user namespace that needs no privilege.

// Each file of tests uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::sync::{Arc, Mutex};

use mptcplab_engine_kernel::netns::NetNs;
use mptcplab_engine_kernel::plan::{Interface, Mptcp, Node, Prefix, Protocol, Traffic, Workload};
use mptcplab_engine_kernel::record::Recorder;
use mptcplab_engine_kernel::telemetry::NodeContext;
use mptcplab_engine_kernel::traffic::{Applications, Context, Stop};
use mptcplab_engine_kernel::translations::Translations;
pub(crate) use mptcplab_testbed::inside;
use serde_json::Value;

/// Rows that a recorder wrote.
#[derive(Clone, Default)]
struct Rows(Arc<Mutex<Vec<u8>>>);

impl Write for Rows {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A client (node 0) with the interfaces `wifi` (10.0.1.2, fd01::2) and `eth` (10.0.2.2, fd02::2),
/// a server (node 1) at their other ends (10.0.1.1 …), and what they record.
pub(crate) struct World {
    pub(crate) context: Context,
    rows: Rows,
}

impl World {
    pub(crate) fn new() -> Self {
        let (client, server) = (NetNs::create().unwrap(), NetNs::create().unwrap());
        for (number, name) in [(1, "wifi"), (2, "eth")] {
            let fd = server.as_fd().as_raw_fd();
            let peer = format!(
                "peer name {name} netns /proc/{}/fd/{fd}",
                std::process::id()
            );
            ip(&client, &format!("link add {name} type veth {peer}"));
            for (netns, host) in [(&server, 1), (&client, 2)] {
                ip(
                    netns,
                    &format!("address add 10.0.{number}.{host}/24 dev {name}"),
                );
                ip(
                    netns,
                    &format!("address add fd0{number}::{host}/64 dev {name} nodad"),
                );
                ip(netns, &format!("link set {name} up"));
                ip(netns, "link set lo up");
            }
            let table = format!("table {number}");
            for (family, source, gateway) in [
                ("-4", format!("10.0.{number}.2"), format!("10.0.{number}.1")),
                ("-6", format!("fd0{number}::2"), format!("fd0{number}::1")),
            ] {
                ip(&client, &format!("{family} rule add from {source} {table}"));
                ip(
                    &client,
                    &format!("{family} route add default via {gateway} dev {name} {table}"),
                );
            }
        }
        let nodes = [("client", client, 2), ("server", server, 1)]
            .map(|(name, netns, host)| NodeContext::new(&node(name, host), netns))
            .to_vec();
        let rows = Rows::default();
        let recorder = Recorder::new(Box::new(rows.clone())).unwrap();
        recorder.begin();
        let stop = Stop::new().unwrap();
        Self {
            context: Context {
                applications: Applications::default(),
                translations: Translations::default(),
                recorder,
                nodes,
                stop,
                seed: 1,
            },
            rows,
        }
    }

    /// Makes the client open a second subflow from `eth`.
    pub(crate) fn add_endpoint(&self) {
        self.ip(0, "mptcp endpoint add 10.0.2.2 dev eth subflow");
    }

    /// Limits the rate of both ends of `wifi`; false where this machine cannot (it lacks `tc` or tbf).
    pub(crate) fn slow_down(&self, rate: &str) -> bool {
        let arguments = format!("qdisc add dev wifi root tbf rate {rate} burst 10k latency 200ms");
        let slow = || Command::new("tc").args(arguments.split(' ')).status();
        let mut nodes = self.context.nodes.iter();
        nodes.all(|node| {
            let result = node.netns.run(slow).unwrap();
            result.is_ok_and(|status| status.success())
        })
    }

    /// Runs `ip` in a node.
    pub(crate) fn ip(&self, node: usize, arguments: &str) {
        ip(&self.context.nodes[node].netns, arguments);
    }

    /// Sets a sysctl of a node's namespace.
    pub(crate) fn sysctl(&self, node: usize, path: &str, value: &str) {
        let write = || fs::write(format!("/proc/sys/net/{path}"), value);
        self.context.nodes[node].netns.run(write).unwrap().unwrap();
    }

    /// The rows of one table so far.
    pub(crate) fn rows(&self, table: &str) -> Vec<Value> {
        self.context.recorder.finish().unwrap();
        let bytes = self.rows.0.lock().unwrap();
        let rows = bytes
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty());
        let rows = rows.map(|line| serde_json::from_slice(line).unwrap());
        rows.filter(|row: &Value| row["record"] == table).collect()
    }
}

/// A flow from the client's `wifi` to the server.
pub(crate) fn traffic(protocol: Protocol, workload: Workload) -> Traffic {
    Traffic {
        name: "flow".to_owned(),
        client: 0,
        server: 1,
        protocol,
        source: Some("10.0.1.2".parse().unwrap()),
        target: "10.0.1.1".parse().unwrap(),
        port: 5001,
        start_ns: 0,
        congestion_control: "cubic".to_owned(),
        server_congestion_control: "cubic".to_owned(),
        dual_stack: false,
        expected_joins: 0,
        subflows: Vec::new(),
        workload,
    }
}

fn node(name: &str, host: u8) -> Node {
    let interfaces = [(1, "wifi"), (2, "eth")].map(|(number, name)| Interface {
        name: name.to_owned(),
        addresses: vec![
            Prefix {
                address: format!("10.0.{number}.{host}").parse().unwrap(),
                length: 24,
            },
            Prefix {
                address: format!("fd0{number}::{host}").parse().unwrap(),
                length: 64,
            },
        ],
        gateways: vec![],
        mtu: 1500,
        address_delay_ns: 0,
        endpoint: None,
    });
    Node {
        name: name.to_owned(),
        router: false,
        switch: None,
        interfaces: interfaces.to_vec(),
        routes: vec![],
        mptcp: Mptcp {
            enabled: true,
            checksum: false,
            syn_retries: None,
            scheduler: None,
            scheduler_options: Default::default(),
            subflows_per_pair: 1,
            limit_subflows: 2,
            limit_add_addr_accepted: 0,
            by_application: false,
        },
        clock_granularity_ns: 1,
        pacing: false,
        sysctls: Default::default(),
    }
}

/// Runs `ip` in a namespace.
pub(crate) fn ip(netns: &NetNs, arguments: &str) {
    let output = netns
        .run(|| {
            Command::new("ip")
                .args(arguments.split_whitespace())
                .output()
        })
        .unwrap()
        .expect("the tests need iproute2");
    assert!(
        output.status.success(),
        "ip {arguments}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
