//! Carriers that go and come back, and subflows that an application closes.

use mptcplab_link::LinkChange;
use mptcplab_plan::{Action, Protocol, Way};

use crate::support::{Lab, MS, Path, Run, SECOND, goodput_bps};

const OUTAGE: [u64; 2] = [SECOND, 2 * SECOND];

/// Five seconds of download over the first or both of 20 Mbit/s with 5 ms and 10 Mbit/s with 25 ms.
fn download(paths: usize) -> Lab {
    let both = [
        Path::new(20_000_000, 5 * MS),
        Path::new(10_000_000, 25 * MS),
    ];
    let mut lab = Lab::with_paths(1, &both[..paths]);
    lab.bulk_for(Protocol::Mptcp, Way::Down, 5 * SECOND);
    lab
}

/// Bytes that link 0 has carried to the client by this time.
fn carried(run: &Run, t_ns: u64) -> u64 {
    let samples = run.table("link_samples").into_iter();
    let to_client = samples.filter(|row| row["link"] == "p0" && row["to"] == "client.p0");
    let mut before = to_client.filter(|row| row["t_ns"].as_u64().unwrap() <= t_ns);
    let last = before.next_back().expect("a sample");
    last["delivered_bytes"].as_u64().unwrap()
}

#[test]
fn a_connection_whose_first_path_goes_and_returns_at_both_ends_uses_it_again_at_once() {
    let mut lab = download(2);
    for (at_ns, up) in OUTAGE.into_iter().zip([false, true]) {
        let change = LinkChange {
            up: Some(up),
            ..LinkChange::default()
        };
        let carrier = Some(up);
        lab.event(
            at_ns,
            Action::Link {
                link: 0,
                change,
                carrier,
            },
        );
    }
    let run = lab.run();
    let transfer = run.transfer();
    // All that is not acknowledged goes again from its beginning, which may have come, and behind
    // what is in the other subflow's send buffer, which holds twice its widest window. (Linux 6.18
    // was silent for 103 to 227 ms, by when the path went.)
    let silence = transfer["longest_silence_ns"].as_u64().unwrap();
    assert!(silence < 190 * MS, "{silence}");
    let during = carried(&run, OUTAGE[1]) - carried(&run, OUTAGE[0] + 100 * MS);
    assert_eq!(during, 0);
    // In the second after the return the link is used for at least four fifths of its rate.
    let after = carried(&run, 3 * SECOND + 200 * MS) - carried(&run, 2 * SECOND + 200 * MS);
    assert!(8 * after > 16_000_000, "{after}");
    // All 30 Mbit/s for four seconds, 10 Mbit/s for one.
    assert!(
        goodput_bps(transfer) > 0.85 * 26e6,
        "{}",
        goodput_bps(transfer)
    );
}

#[test]
fn a_client_without_endpoints_joins_what_is_announced_in_the_network_of_that() {
    let mut lab = download(2);
    for interface in &mut lab.plan.nodes[0].interfaces {
        interface.endpoint = None;
    }
    let run = lab.run();
    let rate = goodput_bps(run.transfer());
    assert!(rate > 0.85 * 30e6, "{rate}");
    assert_eq!(run.counter("client", "MPTcpExtMPJoinSynTx"), 1);
}

#[test]
fn a_connection_without_a_subflow_goes_on_with_the_next_and_loses_nothing() {
    let mut lab = download(1);
    for node in &mut lab.plan.nodes {
        node.interfaces[0].endpoint = None;
    }
    let (source, target) = (lab.address(0, 0), lab.address(0, 1));
    for (at_ns, open) in OUTAGE.into_iter().zip([false, true]) {
        lab.event(
            at_ns,
            Action::Subflow {
                traffic: 0,
                source,
                target,
                open,
            },
        );
    }
    let run = lab.run();
    let silence = run.transfer()["longest_silence_ns"].as_u64().unwrap();
    // The packets that were on their way arrive.
    assert!((900 * MS..SECOND + 50 * MS).contains(&silence), "{silence}");
    // Once its FIN is through, nothing passes the link while the connection has no subflow.
    let during = carried(&run, OUTAGE[1]) - carried(&run, OUTAGE[0] + 100 * MS);
    assert_eq!(during, 0);
}
