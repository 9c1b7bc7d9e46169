//! Small receive buffers, against what Linux 6.18 does over the emulated links of the kernel engine
//! (`beyond/schedulers`, 10 s).

use mptcplab_plan::{Protocol, Way};

use crate::support::{Lab, MS, Path, SECOND, goodput_bps};

/// A download of 10 s by paths of 20 Mbit/s to a client with 400 kB for what it receives.
fn download(delays_ns: &[u64], protocol: Protocol) -> f64 {
    let paths: Vec<Path> = delays_ns
        .iter()
        .map(|&ns| Path::new(20_000_000, ns))
        .collect();
    let mut lab = Lab::with_paths(1, &paths);
    let sysctls = &mut lab.plan.nodes[0].sysctls;
    sysctls.insert("net.ipv4.tcp_rmem".into(), "4096 131072 400000".into());
    lab.bulk_for(protocol, Way::Down, 10 * SECOND);
    goodput_bps(lab.run().transfer())
}

/// 250 000 bytes of 400 000 are payload: 8.85 Mbit/s in Linux.
#[test]
fn the_window_is_what_linux_makes_of_the_memory() {
    let rate = download(&[100 * MS], Protocol::Tcp);
    assert!((8_700_000.0..9_000_000.0).contains(&rate), "{rate}");
}

/// 8.1 to 8.4 Mbit/s in Linux, less than half of the fast path alone: what waits for the slow path
/// takes room, and that path's own buffer has stayed as small as it was when it joined.
#[test]
fn a_slow_path_stops_a_fast_one() {
    let rate = download(&[10 * MS, 100 * MS], Protocol::Mptcp);
    assert!((7_000_000.0..11_000_000.0).contains(&rate), "{rate}");
}
