//! Links that fail while the controller knows nothing yet.

use mptcplab_controller::{Event, PortRef};
use mptcplab_switch::{Config, PortSetup, Switch};

use crate::failures::connected;
use crate::host::capable;
use crate::network::{MILLISECOND, Network, SECOND};

/// A connection whose controller hears nothing any more for long.
fn left_alone() -> Network {
    let mut network = connected();
    network.control_ns = 1000 * SECOND;
    network
}

/// Segments of data that client and server of the first subflow have from each other.
fn received(network: &Network) -> [usize; 2] {
    [0, 1].map(|host| {
        let received = network.hosts[host].received.iter();
        received.filter(|one| !one.payload.is_empty()).count()
    })
}

#[test]
fn packets_take_another_way_at_once_and_the_controllers_when_it_has_heard() {
    let mut network = connected();
    network.control_ns = 20 * MILLISECOND;
    let link = PortRef::new(3, 2);
    for now_ms in 0..120_u64 {
        network.data(0, [1000, 80], 1);
        network.data(1, [80, 1000], 0);
        network.run(MILLISECOND / 2);
        if now_ms == 10 {
            network.set_link(link, false);
        }
        network.run(MILLISECOND / 2);
        // Three links of 2 ms. The one in the middle fails after 10.5 ms. What came to it by then is
        // through, or on it and lost; what comes later goes back, and over the three links of the
        // second path. The news take 20 ms and the rules of the third path as long.
        let arrives_ms = |sent_ms: u64| match sent_ms {
            0..=6 | 51.. => Some(sent_ms + 6),
            7 | 8 => None,
            9..=50 => Some(sent_ms + 10),
        };
        let arrived = (0..=now_ms).filter(|sent| {
            let at_ms = arrives_ms(*sent);
            at_ms.is_some_and(|at_ms| at_ms <= now_ms + 1)
        });
        assert_eq!(received(&network), [arrived.count(); 2], "{now_ms} ms");
        let path = if now_ms < 30 { [3, 4, 2] } else { [7, 8, 2] };
        assert_eq!(network.paths(0)[0], path, "{now_ms} ms");
    }
    // Rules of the old path are gone, too.
    assert_eq!((network.rules_of(3), network.rules_of(4)), (0, 0));
}

#[test]
fn whichever_link_fails_packets_come_through_without_the_controller() {
    for link in [PortRef::new(1, 1), PortRef::new(3, 2), PortRef::new(4, 2)] {
        let mut network = left_alone();
        network.set_link(link, false);
        network.data(0, [1000, 80], 1);
        network.data(1, [80, 1000], 0);
        network.run(20 * MILLISECOND);
        assert_eq!(received(&network), [1, 1], "{link:?}");
        assert_eq!(network.paths(0)[0], [3, 4, 2]);
        network.set_link(link, true);
        network.run(20 * MILLISECOND);
        // The link is used again at once.
        network.data(0, [1000, 80], 1);
        network.run(6 * MILLISECOND);
        assert_eq!(received(&network), [1, 2], "{link:?}");
    }
}

#[test]
fn packets_that_no_way_is_left_to_are_dropped() {
    let mut network = left_alone();
    for link in [PortRef::new(3, 2), PortRef::new(5, 2), PortRef::new(8, 2)] {
        network.set_link(link, false);
    }
    network.data(0, [1000, 80], 1);
    network.run(SECOND);
    assert_eq!(received(&network), [0, 0]);
}

#[test]
fn ways_follow_the_network() {
    let mut network = connected();
    // The second path, which the ways of the first one use, fails, and then the first.
    network.set_link(PortRef::new(6, 2), false);
    network.run(20 * MILLISECOND);
    network.control_ns = 1000 * SECOND;
    network.set_link(PortRef::new(3, 2), false);
    network.data(0, [1000, 80], 1);
    network.run(20 * MILLISECOND);
    assert_eq!(received(&network), [0, 1]);
}

/// Switch 3 begins anew with room for so many groups; the first one is tried out.
fn with_groups(network: &mut Network, max_groups: u32) {
    let mut out = Vec::new();
    let ports = (1..=20).map(PortSetup::new).collect();
    let poor = Switch::new(Config {
        datapath_id: 3,
        ports,
        max_groups,
        ..Config::default()
    });
    network.refuses = Some(3);
    network.switches.insert(3, poor);
    let connection = mptcplab_controller::ConnectionId(3);
    let now_ns = network.now_ns;
    network.controller.disconnect(now_ns, connection, &mut out);
    network.take_controller(out);
    network.begin_anew(3);
    network.run(2 * SECOND);
}

#[test]
fn a_switch_without_groups_or_with_too_few_forwards_without_them() {
    for max_groups in [0, 1, 2] {
        let mut network = connected();
        with_groups(&mut network, max_groups);
        network.syn(0, 3000, 1, vec![capable(None, None)]);
        network.run(100 * MILLISECOND);
        let missing = |event: &Event| matches!(event, Event::NotInstalled { .. });
        assert!(!network.events().iter().any(missing), "{max_groups}");
        assert_eq!(network.paths(1), [[3, 4, 2]]);
        let before = received(&network)[1];
        network.data(0, [3000, 80], 1);
        network.run(20 * MILLISECOND);
        assert_eq!(received(&network)[1], before + 1, "{max_groups}");
    }
}
