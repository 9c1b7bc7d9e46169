//! Data in SYNs, and checksums, between hosts whose settings differ.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::thread;

use mptcplab_measure::client::{Outcome, Path, Session};
use mptcplab_measure::message::FastOpenFailure;
use mptcplab_measure::settings::Settings;
use mptcplab_measure::steps::{Kind, Order, Step, Transfers, steps};
use mptcplab_measure::target::{Config, Identity, Target};
use mptcplab_testbed::{Hosts, inside};

fn set(setting: &str, value: &str) {
    fs::write(format!("/proc/sys/net/{setting}"), value).unwrap();
}

/// The first step of a kind, and each of its repetitions.
fn looks(kind: Kind) -> Vec<Step> {
    let transfers = Transfers {
        sizes: Vec::new(),
        directions: Vec::new(),
        repeat: 0,
    };
    let every = steps(1, &transfers, Order::Interleaved, 0, true);
    every.into_iter().filter(|step| step.kind == kind).collect()
}

/// The connections of a step from this address.
fn carried_out(session: &mut Session, step: &Step, source: IpAddr, target: IpAddr) -> Vec<Outcome> {
    let path = Path {
        interface: "eth".to_owned(),
        source,
        device: None,
        index: 1,
    };
    let plan = step.plan(&[path], target, 0, None);
    let measured = session.run(&plan, u64::MAX, |_| true).unwrap();
    assert_eq!(measured.wrong_checksums.probe, Some(0));
    measured.connections
}

/// The target has its settings when it begins.
fn with_target(
    fast_open: &str,
    checksum: &str,
    check: impl FnOnce(&mut Session, IpAddr, IpAddr) + Send,
) {
    let hosts = Hosts::new(1);
    let (source, place) = (
        hosts.client_address(1, false),
        hosts.server_address(1, false),
    );
    let identity = Identity::new(1).unwrap();
    let config = Config {
        listen: SocketAddr::new(place, 0),
        data_port: 0,
        rate_limit_bps: None,
        volume_limit_bytes: None,
    };
    let target = hosts.server.run(|| {
        set("ipv4/tcp_fastopen", fast_open);
        set("mptcp/checksum_enabled", checksum);
        Target::bind(&config, &identity).unwrap()
    });
    let target = target.unwrap();
    let port = target.address().unwrap().port();
    let (stop, stopped) = UnixStream::pair().unwrap();
    let serving = thread::spawn(move || target.run(stopped).unwrap());
    let measure = || {
        set("ipv4/tcp_fastopen", "1");
        let host = place.to_string();
        let mut session = Session::connect(&host, port, &identity.tokens[0], || true).unwrap();
        check(&mut session, source, place);
    };
    hosts.client.run(measure).unwrap();
    drop(stop);
    serving.join().unwrap();
}

#[test]
fn data_in_syns_are_acknowledged_once_there_is_a_cookie() {
    if !inside("data_in_syns_are_acknowledged_once_there_is_a_cookie") {
        return;
    }
    with_target("3", "1", |session, source, target| {
        assert!(Settings::here().can_open_fast(&session.terms().settings));
        let [first, second, _] = looks(Kind::FastOpen)[..] else {
            panic!("three looks")
        };
        let request = carried_out(session, &first, source, target);
        let failure = Some(FastOpenFailure::CookieUnavailable);
        assert_eq!(request[0].probe.seen.fast_open_failure, failure);
        let syn = |one: &Outcome| one.target.as_ref().unwrap().syn.clone();
        assert_eq!(syn(&request[0]).unwrap().cookie_bytes, Some(0));
        let with_data = carried_out(session, &second, source, target);
        for one in &with_data {
            assert_eq!(one.failure, None);
            let seen = &one.probe.seen;
            assert_eq!(
                (seen.syn_data_acked, seen.fast_open_failure),
                (Some(true), None)
            );
        }
        for one in &with_data[..2] {
            let syn = syn(one).unwrap();
            assert_eq!((syn.cookie_bytes, syn.data_bytes), (Some(8), 37));
        }
        let by_mptcp = &with_data[2];
        assert!(by_mptcp.probe.seen.mptcp && by_mptcp.target.as_ref().unwrap().seen.mptcp);
        // Only the target asks for checksums.
        let compared = carried_out(session, &looks(Kind::Payload)[0], source, target);
        let target = compared[0].target.as_ref().unwrap();
        let used = [&compared[0].probe, target].map(|end| end.seen.checksum);
        assert_eq!((used, target.changed_bytes), ([Some(true); 2], Some(0)));
    });
}

#[test]
fn a_target_whose_setting_allows_no_data_in_syns_gives_no_cookie() {
    if !inside("a_target_whose_setting_allows_no_data_in_syns_gives_no_cookie") {
        return;
    }
    with_target("1", "0", |session, source, target| {
        assert!(!Settings::here().can_open_fast(&session.terms().settings));
        for step in &looks(Kind::FastOpen)[..2] {
            for one in carried_out(session, step, source, target) {
                assert_eq!(one.failure, None);
                let failure = Some(FastOpenFailure::CookieUnavailable);
                assert_eq!(one.probe.seen.fast_open_failure, failure);
            }
        }
        let compared = carried_out(session, &looks(Kind::Payload)[0], source, target);
        assert_eq!(compared[0].probe.seen.checksum, Some(false));
    });
}
