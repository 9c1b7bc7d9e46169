//! Connections of MPTCP from which the controller takes MP_CAPABLE, with the hosts' own stacks.

use mptcplab_link::LinkChange;
use mptcplab_plan::{Action, Protocol, Way};

use crate::support::{Lab, MS, Run, SECOND};
use crate::switches::{CLIENT, decisions, link, over, three_paths};

/// Three paths, a download of so much, and a controller that may take MPTCP from it.
fn lab(bytes: u64) -> Lab {
    let mut lab = three_paths("earliest-completion");
    lab.plan.controller.as_mut().unwrap().tcp_fallback = true;
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, bytes);
    lab
}

/// Cuts the server's link for a time.
fn cut(lab: &mut Lab, from_ns: u64, to_ns: u64) {
    for (at_ns, up) in [(from_ns, false), (to_ns, true)] {
        let change = LinkChange {
            up: Some(up),
            ..LinkChange::default()
        };
        let action = Action::Link {
            link: link(lab, "server"),
            change,
            carrier: None,
        };
        lab.event(at_ns, action);
    }
}

fn falls_back() -> (String, String) {
    (CLIENT[0].to_owned(), "falls back to TCP".to_owned())
}

fn end_ns(run: &Run) -> u64 {
    run.transfer()["end_ns"].as_u64().unwrap()
}

#[test]
fn a_short_transfer_is_one_of_tcp_and_a_long_one_keeps_mptcp() {
    let short = lab(10_000).run();
    assert_eq!(short.transfer()["bytes"], 10_000);
    assert_eq!(short.transfer()["fallback"], true);
    let placed = (CLIENT[0].to_owned(), over(0));
    assert_eq!(decisions(&short), [falls_back(), placed]);
    let mut by_tcp = lab(10_000);
    by_tcp.plan.traffic[0].protocol = Protocol::Tcp;
    let (here_ns, tcp_ns) = (end_ns(&short), end_ns(&by_tcp.run()));
    // Programs take some tens of microseconds to wake up.
    assert!(here_ns.abs_diff(tcp_ns) < MS / 2, "{here_ns} {tcp_ns}");

    let long = lab(5_000_000).run();
    assert_eq!(long.transfer()["fallback"], false);
    assert_eq!(long.transfer()["joins"], 1);
    assert!(!decisions(&long).contains(&falls_back()));
}

/// The SYN/ACK is lost. The SYN that is sent again meets the rules and has MP_CAPABLE, and the server,
/// which had one without, answers as before.
#[test]
fn a_server_that_has_had_the_first_syn_stays_with_tcp() {
    let mut lab = lab(10_000);
    // The SYN takes 4 ms to the server.
    cut(&mut lab, 5 * MS, 900 * MS);
    let run = lab.run();
    assert_eq!(run.transfer()["bytes"], 10_000);
    assert_eq!(run.transfer()["fallback"], true);
    assert_eq!(run.transfer()["joins"], 0);
    assert!((SECOND..2 * SECOND).contains(&end_ns(&run)));
}

/// The SYN itself is lost behind the first switch: the next one is the first that the server gets.
#[test]
fn a_server_that_has_not_had_it_speaks_mptcp() {
    let mut lab = lab(10_000);
    cut(&mut lab, 0, 900 * MS);
    let run = lab.run();
    assert_eq!(run.transfer()["bytes"], 10_000);
    assert_eq!(run.transfer()["fallback"], false);
    let refused = |number: usize| (CLIENT[number].to_owned(), "refused".to_owned());
    let made = decisions(&run);
    assert_eq!(made[0], falls_back());
    assert_eq!(made[2..], [refused(1), refused(2)]);
}
