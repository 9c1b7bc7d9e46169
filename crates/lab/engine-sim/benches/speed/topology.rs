//! Larger topologies.

use mptcplab_plan::{Protocol, Way};

use crate::support::{Lab, MS, Path};

/// How many data segments a case is to have, about, whatever the number of its connections.
const SEGMENTS: u64 = 1_000_000;
const SEGMENT_BITS: u64 = 12_000;
const SAMPLE_INTERVAL_NS: u64 = 1_000_000 * MS;

/// Rate for each connection, where it does not depend on their number.
const RATE_EACH_BPS: u64 = 10_000_000;
/// How long such connections last, whatever their number.
const DURATION_EACH_NS: u64 = 4_000 * MS;

/// `connections` that share 1 Gbit/s. A thousand have a window of one or two segments each: every
/// seventh segment is sent again, many after a timeout, so that one costs more than of ten
/// connections with long windows.
pub(crate) fn bottleneck(protocol: Protocol, connections: usize) -> Lab {
    let rate_bps = 1_000_000_000;
    let duration_ns = SEGMENTS * SEGMENT_BITS * 1_000_000_000 / rate_bps;
    one_link(protocol, connections, rate_bps, duration_ns)
}

/// `connections` that have 10 Mbit/s each: as much of each, and as many segments, whatever their
/// number. So what a segment costs can be compared.
pub(crate) fn equal_load(protocol: Protocol, connections: usize) -> Lab {
    let rate_bps = RATE_EACH_BPS * connections as u64;
    one_link(protocol, connections, rate_bps, DURATION_EACH_NS)
}

/// `connections` from as many clients to as many servers, but at most a hundred, over one link.
fn one_link(protocol: Protocol, connections: usize, rate_bps: u64, duration_ns: u64) -> Lab {
    let mut lab = Lab::new(1);
    // Rows of a thousand connections are not what is measured.
    lab.plan.sample_interval_ns = SAMPLE_INTERVAL_NS;
    let (left, right) = (lab.node("left", true), lab.node("right", true));
    lab.link(left, right, "middle", Path::new(rate_bps, 5 * MS).config());
    let hosts = connections.min(100);
    let edge = Path::new(rate_bps, MS);
    for number in 0..hosts {
        let client = lab.node(&format!("c{number}"), false);
        lab.link(client, left, &format!("c{number}"), edge.config());
        let server = lab.node(&format!("s{number}"), false);
        lab.link(server, right, &format!("s{number}"), edge.config());
    }
    lab.add_routes();
    for number in 0..connections {
        let client = 2 + 2 * (number % hosts);
        bulk(&mut lab, protocol, [client, client + 1], duration_ns);
        // Only the flows of one server have different ports.
        lab.plan.traffic[number].port = 5001 + (number / hosts) as u16;
    }
    lab
}

/// A fat-tree of k-port routers (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008) with `connections`
/// between hosts that a fixed permutation pairs, spread over the equal ways by their ports.
pub(crate) fn fat_tree(protocol: Protocol, k: usize, connections: usize) -> Lab {
    let rate_bps = 100_000_000;
    let half = k / 2;
    let mut lab = Lab::new(1);
    // Rows of a thousand connections are not what is measured.
    lab.plan.sample_interval_ns = SAMPLE_INTERVAL_NS;
    let path = Path::new(rate_bps, MS / 10);
    let core: Vec<usize> = (0..half * half)
        .map(|number| lab.node(&format!("core{number}"), true))
        .collect();
    let mut hosts = Vec::new();
    let mut links = 0;
    let mut link = |lab: &mut Lab, one, other| {
        lab.link(one, other, &format!("l{links}"), path.config());
        links += 1;
    };
    for pod in 0..k {
        let above: Vec<usize> = (0..half)
            .map(|number| lab.node(&format!("a{pod}-{number}"), true))
            .collect();
        for (number, &one) in above.iter().enumerate() {
            for up in 0..half {
                link(&mut lab, one, core[number * half + up]);
            }
        }
        for number in 0..half {
            let edge = lab.node(&format!("e{pod}-{number}"), true);
            for &one in &above {
                link(&mut lab, edge, one);
            }
            for host in 0..half {
                let host = lab.node(&format!("h{pod}-{number}-{host}"), false);
                link(&mut lab, host, edge);
                hosts.push(host);
            }
        }
    }
    lab.add_routes();
    let busy = hosts.len().min(connections) as u64;
    let duration_ns = SEGMENTS * SEGMENT_BITS * 1_000_000_000 / (rate_bps * busy);
    for number in 0..connections {
        let client = number % hosts.len();
        // Another host, a different one in each of many rounds.
        let half = hosts.len() / 2;
        let shift = half + number / hosts.len() % half;
        let server = (client + shift) % hosts.len();
        bulk(
            &mut lab,
            protocol,
            [hosts[client], hosts[server]],
            duration_ns,
        );
    }
    lab
}

fn bulk(lab: &mut Lab, protocol: Protocol, [client, server]: [usize; 2], duration_ns: u64) {
    let target = lab.address_of(server);
    if protocol == Protocol::Mptcp {
        // Two subflows on the one pair of addresses: other ports, other ways.
        lab.plan.nodes[client].mptcp.subflows_per_pair = 2;
    }
    let traffic = lab.bulk_for(protocol, Way::Up, duration_ns);
    (traffic.client, traffic.server, traffic.target) = (client, server, target);
}
