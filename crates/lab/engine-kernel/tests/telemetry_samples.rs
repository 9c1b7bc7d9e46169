//! The sampler's rows of sockets and interfaces.

mod traffic_world;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use mptcplab_engine_kernel::plan::{Protocol, Way, Workload};
use mptcplab_engine_kernel::record::Recorder;
use mptcplab_engine_kernel::telemetry::{self, NodeContext, Probes, Sampler};
use mptcplab_engine_kernel::traffic;
use serde_json::Value;
use traffic_world::{World, inside, traffic};

const LONG: u64 = 60_000_000_000;

fn started(
    nodes: &[NodeContext],
    links: impl FnMut(&Recorder) -> io::Result<()> + Send + 'static,
    every: Duration,
    recorder: Recorder,
) -> Sampler {
    let probes = Probes::open(nodes, &recorder).unwrap();
    telemetry::start(probes, links, every, recorder).unwrap()
}

fn bulk(duration_ns: u64) -> Workload {
    Workload::Bulk {
        way: Way::Up,
        streams: 1,
        duration_ns: Some(duration_ns),
        bytes: None,
        rate_bps: None,
    }
}

#[test]
fn every_subflow_and_interface_is_sampled() {
    if !inside("every_subflow_and_interface_is_sampled") {
        return;
    }
    let world = World::new();
    world.add_endpoint();
    let (context, every) = (&world.context, Duration::from_millis(20));
    let recorder = context.recorder.clone();
    let sampler = started(&context.nodes, |_| Ok(()), every, recorder);
    // Long enough for a join whose first SYN is lost.
    let flow = traffic(Protocol::Mptcp, bulk(3_000_000_000));
    traffic::start(&[flow], context).unwrap().wait(LONG);
    sampler.stop().unwrap();
    let transfer = &world.rows("transfers")[0];

    let subflows = world.rows("subflow_samples");
    let sampled = |node: &str, interface: &str| -> Vec<&Value> {
        let rows = subflows.iter().filter(|row| row["final"] == false);
        rows.filter(|row| row["node"] == node && row["interface"] == interface)
            .collect()
    };
    for interface in ["wifi", "eth"] {
        let rows = sampled("client", interface);
        assert!(
            !rows.is_empty(),
            "no sample of the subflow over {interface}"
        );
        for row in rows {
            assert_eq!(row["token"], transfer["token"]);
            assert_eq!(row["backup"], false);
            assert_eq!(row["congestion_control"], "cubic");
            assert!(row["rtt_us"].as_u64().unwrap() > 0);
            assert_eq!(row["local_id"] == 0, interface == "wifi", "{row}");
        }
    }
    // The server has both on the address that the client was told.
    let at_server = sampled("server", "wifi");
    let pairs: BTreeSet<_> = at_server
        .iter()
        .map(|row| row["subflow"].as_str())
        .collect();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    let connections = world.rows("connection_samples");
    let ours = |row: &&Value| row["node"] == "client" && row["token"] == transfer["token"];
    let joined = connections
        .iter()
        .filter(ours)
        .filter(|row| row["subflows"] == 1)
        .count();
    assert!(joined > 1, "{connections:?}");

    let interfaces = world.rows("interface_samples");
    let last = |node: &str, interface: &str| {
        let mut rows = interfaces.iter().rev();
        rows.find(|row| row["node"] == node && row["interface"] == interface)
            .unwrap()
            .clone()
    };
    let sent = |interface| last("client", interface)["tx_bytes"].as_u64().unwrap();
    assert!(sent("wifi") + sent("eth") > transfer["bytes"].as_u64().unwrap());
    assert_eq!(
        last("client", "wifi")["tx_packets"],
        last("server", "wifi")["rx_packets"]
    );
    assert_eq!(last("client", "wifi")["up"], true);
    assert_eq!(world.rows("warning"), Vec::<Value>::new());

    let counters = world.rows("counters");
    let counter = |node: &str, name: &str| {
        let mut rows = counters.iter();
        rows.find(|row| row["node"] == node && row["name"] == name)
            .map(|row| row["value"].clone())
    };
    assert_eq!(counter("client", "MPTcpExtMPJoinSynAckRx"), Some(1.into()));
    assert_eq!(counter("server", "MPTcpExtMPJoinAckRx"), Some(1.into()));
    assert!(counters.iter().all(|row| row["value"] != 0));
}

/// The kernel changes `IFF_RUNNING` once a second at most.
#[test]
fn an_interface_is_up_as_soon_as_it_has_its_carrier() {
    if !inside("an_interface_is_up_as_soon_as_it_has_its_carrier") {
        return;
    }
    let world = World::new();
    for end in ["up", "down", "up", "down"] {
        world.ip(1, &format!("link set eth {end}"));
        let (context, every) = (&world.context, Duration::from_secs(3600));
        let recorder = context.recorder.clone();
        let sampler = started(&context.nodes, |_| Ok(()), every, recorder);
        sampler.stop().unwrap();
        let mut samples = world.rows("interface_samples").into_iter();
        let last = samples
            .rfind(|row| row["node"] == "client" && row["interface"] == "eth")
            .unwrap();
        assert_eq!(last["up"], end == "up");
    }
}

#[test]
fn sockets_of_any_program_are_seen_but_listeners_are_not() {
    if !inside("sockets_of_any_program_are_seen_but_listeners_are_not") {
        return;
    }
    let world = World::new();
    let context = &world.context;
    let listen = || TcpListener::bind("[::]:7000").unwrap();
    let listener = context.nodes[1].netns.run(listen).unwrap();
    let connect = || TcpStream::connect("10.0.1.1:7000").unwrap();
    let mut client = context.nodes[0].netns.run(connect).unwrap();
    let (_server, _) = listener.accept().unwrap();
    client.write_all(&[0; 1000]).unwrap();
    let recorder = context.recorder.clone();
    let every = Duration::from_secs(3600);
    let sampler = started(&context.nodes, |_| Ok(()), every, recorder);
    sampler.stop().unwrap();
    let rows = world.rows("subflow_samples");
    let local = client.local_addr().unwrap();
    let first = |node: &str| rows.iter().find(|row| row["node"] == node).unwrap();
    assert_eq!(first("client")["subflow"], format!("{local}-10.0.1.1:7000"));
    assert_eq!(first("client")["bytes_sent"], 1000);
    assert_eq!(first("client")["state"], "ESTABLISHED");
    // The server's socket is an IPv6 one with a mapped address.
    assert_eq!(first("server")["subflow"], format!("10.0.1.1:7000-{local}"));
    assert_eq!(first("server")["interface"], "wifi");
    assert!(
        rows.iter()
            .all(|row| row["token"].is_null() && row["state"] == "ESTABLISHED")
    );
    assert!(
        rows.iter()
            .all(|row| row["backup"].is_null() && row["local_id"].is_null())
    );
}

#[test]
fn links_are_asked_with_each_sample() {
    if !inside("links_are_asked_with_each_sample") {
        return;
    }
    let world = World::new();
    let context = &world.context;
    let asked = Arc::new(AtomicU32::new(0));
    let counter = asked.clone();
    let links = move |_: &_| {
        counter.fetch_add(1, Relaxed);
        Ok(())
    };
    let every = Duration::from_millis(5);
    let recorder = context.recorder.clone();
    let sampler = started(&context.nodes, links, every, recorder);
    while asked.load(Relaxed) < 3 {
        std::thread::yield_now();
    }
    let cost = sampler.stop().unwrap();
    assert_eq!(
        asked.load(Relaxed),
        cost.rounds + 1,
        "at once, and with each"
    );
}
