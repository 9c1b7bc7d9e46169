//! From path to path.

use super::*;

/// Three interfaces, of which two are named; the connection began over the second of them and was
/// handed to the first.
fn handed_over() -> Core {
    let named = ["eth2", "eth1"].map(str::to_owned);
    let mut core = connected(Config {
        paths: Paths::Handover(named.to_vec()),
        most_subflows: 8,
        ..Config::default()
    });
    assert_eq!(opened(&core.commands(0)), [address(2).address]);
    established(&mut core, "10.0.2.2:40001");
    assert!(matches!(core.commands(0)[..], [Command::Close { .. }]));
    closed(&mut core, 0, "10.0.1.2:40000");
    core
}

#[test]
fn a_path_whose_subflow_was_closed_here_is_not_lost() {
    let mut core = handed_over();
    core.set_addresses([1, 3].map(address).to_vec());
    assert_eq!(opened(&core.commands(0)), [address(1).address]);
    closed(&mut core, 0, "10.0.2.2:40001");
    established(&mut core, "10.0.1.2:40002");
    assert_eq!(core.commands(0), []);
    // Nor is one that has come back, which is the preferred one.
    core.set_addresses([1, 2, 3].map(address).to_vec());
    assert_eq!(opened(&core.commands(0)), [address(2).address]);
}

#[test]
fn an_unnamed_interface_serves_only_while_no_named_one_works() {
    let mut core = handed_over();
    core.set_addresses([1, 3].map(address).to_vec());
    assert_eq!(opened(&core.commands(0)), [address(1).address]);
    // The kernel could not reach the peer from there.
    closed(&mut core, 0, "10.0.1.2:40002");
    assert_eq!(opened(&core.commands(0)), [address(3).address]);
    established(&mut core, "10.0.3.2:40003");
    assert_eq!(core.commands(0), []);
    assert_eq!(core.next_deadline(AVOIDANCE - 1), Some(AVOIDANCE));
    assert_eq!(core.commands(AVOIDANCE - 1), []);
    assert_eq!(opened(&core.commands(AVOIDANCE)), [address(1).address]);
    established(&mut core, "10.0.1.2:40004");
    let close = Command::Close {
        token: TOKEN,
        local: end("10.0.3.2:40003"),
        remote: peer(),
    };
    assert_eq!(core.commands(AVOIDANCE), [close]);
}

#[test]
fn an_address_that_comes_back_is_used_at_once() {
    let mut core = handed_over();
    // Lost without a word from the kernel about its address.
    let lost = SubflowSample {
        token: TOKEN,
        local: end("10.0.2.2:40001"),
        remote: peer(),
        timeouts: 2,
    };
    core.set_samples(&[], &[lost]);
    assert_eq!(opened(&core.commands(0)), [address(1).address]);
    established(&mut core, "10.0.1.2:40002");
    core.commands(0);
    closed(&mut core, 0, "10.0.2.2:40001");
    assert_eq!(core.commands(SECOND), []);
    core.set_addresses([1, 3].map(address).to_vec());
    core.set_addresses([1, 2, 3].map(address).to_vec());
    assert_eq!(opened(&core.commands(SECOND)), [address(2).address]);
}
