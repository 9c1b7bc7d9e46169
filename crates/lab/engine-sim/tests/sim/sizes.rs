//! Sizes of transfers that the controller of switches does not know.

use mptcplab_plan::{Protocol, Sizes, Way};

use crate::support::{Lab, SECOND};
use crate::switches::{CLIENT, decisions, over, three_paths};

/// Three paths under a controller that asks when the transfer would end.
fn lab(sizes: Sizes) -> Lab {
    let mut lab = three_paths("earliest-completion");
    lab.plan.controller.as_mut().unwrap().sizes = sizes;
    lab
}

fn waits(interface: usize) -> (String, String) {
    (CLIENT[interface].to_owned(), "waits".to_owned())
}

#[test]
fn joins_of_a_short_transfer_wait_in_vain() {
    let mut lab = lab(Sizes::Unknown);
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, 20_000);
    let run = lab.run();
    assert_eq!(run.transfer()["bytes"], 20_000);
    assert_eq!(run.transfer()["joins"], 0);
    let expected = [(CLIENT[0].to_owned(), over(0)), waits(1), waits(2)];
    assert_eq!(decisions(&run), expected);
}

#[test]
fn a_join_of_a_long_transfer_is_let_in() {
    let mut lab = lab(Sizes::Unknown);
    lab.bulk_bytes(Protocol::Mptcp, Way::Down, 5_000_000);
    let run = lab.run();
    assert_eq!(run.transfer()["bytes"], 5_000_000);
    assert_eq!(run.transfer()["joins"], 1);
    let made = decisions(&run);
    assert_eq!(
        made[..3],
        [(CLIENT[0].to_owned(), over(0)), waits(1), waits(2)]
    );
    assert_eq!(made[3], (CLIENT[1].to_owned(), over(2)));
    assert_eq!(made[4], (CLIENT[2].to_owned(), "refused".to_owned()));
}

/// The second flow has another port of the same server, and begins when the first one's rules have
/// gone.
#[test]
fn a_size_is_learned_for_another_flow_of_the_server() {
    let mut lab = lab(Sizes::Learned);
    for start_ns in [0, 30 * SECOND] {
        lab.bulk_bytes(Protocol::Mptcp, Way::Down, 20_000).start_ns = start_ns;
    }
    lab.plan.time_limit_ns = 60 * SECOND;
    let run = lab.run();
    let refused = |number: usize| (CLIENT[number].to_owned(), "refused".to_owned());
    let placed = (CLIENT[0].to_owned(), over(0));
    let expected = [
        placed.clone(),
        waits(1),
        waits(2),
        placed,
        refused(1),
        refused(2),
    ];
    assert_eq!(decisions(&run), expected);
}
