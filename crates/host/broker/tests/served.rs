//! Programs without privilege, and the broker that serves them.

mod common;
#[path = "../../subflow/tests/story/peer.rs"]
mod peer;
mod running;
#[path = "../../subflow/tests/story/teller.rs"]
mod teller;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use common::{anything, config, from};
use mptcplab_linux::event::Events;
use mptcplab_subflow::{Error, EventKind, Manager, Open, connection, subflow_ids, subflow_tuple};
use mptcplab_testbed::{Hosts, inside, ip};
use running::Running;
use socket2::SockRef;

const SECONDS: Option<Duration> = Some(Duration::from_secs(5));

#[test]
fn the_story_of_the_subflow_api_is_the_same_by_a_broker() {
    if !inside("the_story_of_the_subflow_api_is_the_same_by_a_broker") {
        return;
    }
    let (hosts, port) = peer::stage();
    let broker = Running::start(&hosts.client, &anything());
    let target = SocketAddr::new(hosts.server_address(1, false), port);
    let manager = Manager::broker(&broker.socket).unwrap();
    let tell = || teller::tell(hosts.dial(target), manager);
    let told = hosts.client.run(tell).unwrap();
    assert_eq!(told, peer::TOLD, "\n{told}");
}

#[test]
fn every_order_acts_on_the_connection_of_its_socket() {
    if !inside("every_order_acts_on_the_connection_of_its_socket") {
        return;
    }
    for six in [false, true] {
        let hosts = Hosts::new(3);
        let broker = Running::start(&hosts.client, &anything());
        let _server = Running::start(&hosts.server, &anything());
        let listener = hosts.listen(six);
        let (client, mut server) = hosts.connect(&listener, six);
        let (other, _other_server) = hosts.connect(&listener, six);
        let mut manager = Manager::broker(&broker.socket).unwrap();
        let mut watch = manager.events(&client).unwrap();
        let mut other_watch = manager.events(&other).unwrap();
        let initial = subflow_ids(&client).unwrap()[0];

        let open = from(hosts.client_address(2, six));
        let second = manager.open_subflow(&client, &open).unwrap();
        let event = watch.next_within(SECONDS).unwrap().unwrap();
        assert_eq!(
            (event.kind, event.subflow),
            (EventKind::SubflowEstablished, Some(second))
        );
        let backup = Open {
            backup: true,
            ..from(hosts.client_address(3, six))
        };
        let third = manager.open_subflow(&client, &backup).unwrap();
        watch.next_within(SECONDS).unwrap().unwrap();
        assert_eq!(subflow_ids(&client).unwrap(), [initial, second, third]);
        let is_backup = || {
            let connection = connection(&client).unwrap();
            connection.subflow(third).unwrap();
            hosts
                .client
                .run(|| subflow_tuple(&client, third))
                .unwrap()
                .unwrap()
                .backup
        };
        assert_eq!(is_backup(), Some(true));
        manager.set_backup(&client, third, false).unwrap();
        assert_eq!(is_backup(), Some(false));

        let announced = SocketAddr::new(hosts.client_address(2, six), 0);
        let id = manager.announce(&client, announced).unwrap();
        manager.withdraw(&client, id).unwrap();
        // The subflows from that address go with it.
        let event = watch.next_within(SECONDS).unwrap().unwrap();
        assert_eq!(
            (event.kind, event.subflow),
            (EventKind::SubflowClosed, Some(second))
        );
        manager.close_subflow(&client, initial).unwrap();
        let event = watch.next_within(SECONDS).unwrap().unwrap();
        assert_eq!(
            (event.kind, event.subflow),
            (EventKind::SubflowClosed, Some(initial))
        );
        // The initial one is listed until its end is acknowledged.
        while subflow_ids(&client).unwrap() != [third] {
            std::thread::yield_now();
        }
        let gone = manager.close_subflow(&client, second);
        assert_eq!(gone, Err(Error::NoSuchSubflow { id: second }));

        // Nothing of it happened to the other connection.
        assert_eq!(subflow_ids(&other).unwrap().len(), 1);
        let nothing = other_watch.next_within(Some(Duration::ZERO)).unwrap();
        assert_eq!(nothing, None);

        (&client).write_all(b"over the third").unwrap();
        let mut heard = [0; 14];
        server.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"over the third");
    }
}

#[test]
fn what_the_peer_or_the_path_refuses_is_told() {
    if !inside("what_the_peer_or_the_path_refuses_is_told") {
        return;
    }
    let hosts = Hosts::new(2);
    let broker = Running::start(&hosts.client, &anything());
    let _server = Running::start(&hosts.server, &anything());
    let listener = hosts.listen(false);
    let (client, _peer) = hosts.connect(&listener, false);
    let mut manager = Manager::broker(&broker.socket).unwrap();
    let local = hosts.client_address(2, false);
    let closed_port = Open {
        remote: Some(SocketAddr::new(hosts.server_address(2, false), 9)),
        ..from(local)
    };
    let error = manager.open_subflow(&client, &closed_port).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    let foreign = SocketAddr::from(([10, 9, 9, 9], 0));
    let error = manager
        .open_subflow(&client, &Open::from(foreign))
        .unwrap_err();
    assert_eq!(error, Error::NotLocal { address: foreign });

    let foreign = Open {
        remote: Some(SocketAddr::from(([192, 0, 2, 1], 0))),
        ..from(local)
    };
    let error = manager.open_subflow(&client, &foreign).unwrap_err();
    assert!(matches!(error, Error::NoRoute { .. }), "{error}");
    ip(&hosts.server, "route add blackhole 10.0.2.2/32");
    let hopeless = Open {
        timeout: Duration::from_millis(200),
        ..from(local)
    };
    let error = manager.open_subflow(&client, &hopeless).unwrap_err();
    assert_eq!(error, Error::TimedOut { timeout_ms: 200 });
    assert_eq!(connection(&client).unwrap().subflows.len(), 1);
}

#[test]
fn a_watch_ends_with_its_connection() {
    if !inside("a_watch_ends_with_its_connection") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Running::start(&hosts.client, &anything());
    let listener = hosts.listen(false);
    let (client, server) = hosts.connect(&listener, false);
    let mut manager = Manager::broker(&broker.socket).unwrap();
    let mut watch = manager.events(&client).unwrap();
    drop((client, server));
    let kinds: Vec<_> = watch.by_ref().map(|event| event.unwrap().kind).collect();
    assert_eq!(kinds.last(), Some(&EventKind::Closed));
}

#[test]
fn what_is_forgotten_is_gone_past_a_loss() {
    if !inside("what_is_forgotten_is_gone_past_a_loss") {
        return;
    }
    let hosts = Hosts::new(1);
    let subscribe = || {
        let events = hosts.client.run(Events::open).unwrap().unwrap();
        let socket = SockRef::from(&events);
        socket.set_recv_buffer_size(1).unwrap();
        events
    };
    let [mut one, mut other] = [subscribe(), subscribe()];
    let listener = hosts.listen(false);
    let connect = |_| {
        let (client, mut server) = hosts.connect(&listener, false);
        // Once it is heard the kernel has told all that there is to tell.
        (&client).write_all(b"?").unwrap();
        server.read_exact(&mut [0]).unwrap();
        server.write_all(b"!").unwrap();
        (&client).read_exact(&mut [0]).unwrap();
        (client, server)
    };
    let _connections: Vec<_> = (0..20).map(connect).collect();
    let lost = one.read(|_| {}).unwrap_err();
    assert_eq!(lost.raw_os_error(), Some(libc::ENOBUFS));
    let mut left = 0;
    one.read(|_| left += 1).unwrap();
    assert_ne!(left, 0, "some came before the loss");
    other.forget();
    other
        .read(|event| panic!("{event:?} is not forgotten"))
        .unwrap();
}

#[test]
fn connections_outlive_the_broker_and_clients_find_the_next_one() {
    if !inside("connections_outlive_the_broker_and_clients_find_the_next_one") {
        return;
    }
    let hosts = Hosts::new(2);
    let folder = common::Folder::new();
    let socket = folder.0.join("broker.sock");
    let start = || Running::start_with(&hosts.client, |_| config(&socket, &anything()));
    let _server = Running::start(&hosts.server, &anything());
    let first = start();
    let listener = hosts.listen(false);
    let (client, mut server) = hosts.connect(&listener, false);
    let mut manager = Manager::broker(&socket).unwrap();
    let open = from(hosts.client_address(2, false));
    let second = manager.open_subflow(&client, &open).unwrap();
    let mut watch = manager.events(&client).unwrap();
    drop(first);
    assert!(!socket.exists());
    assert!(matches!(watch.next().unwrap(), Err(Error::NoBroker { .. })));
    assert!(matches!(
        manager.close_subflow(&client, second),
        Err(Error::NoBroker { .. })
    ));
    let _next = start();
    manager.close_subflow(&client, second).unwrap();
    assert_eq!(subflow_ids(&client).unwrap().len(), 1);
    (&client).write_all(b"on").unwrap();
    server.read_exact(&mut [0; 2]).unwrap();
}

#[test]
fn a_second_broker_does_not_take_the_socket_of_the_first() {
    if !inside("a_second_broker_does_not_take_the_socket_of_the_first") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Running::start(&hosts.client, &anything());
    let told = config(&broker.socket, &anything()).to_string();
    let told = mptcplab_broker::Config::parse(&told).unwrap();
    let second = hosts
        .client
        .run(|| mptcplab_broker::Broker::start(&told).map(drop))
        .unwrap();
    let error = second.unwrap_err().to_string();
    assert!(error.contains("a broker answers at"), "{error}");
    Manager::broker(&broker.socket).unwrap();
}

#[test]
fn what_the_policy_forbids_is_not_done() {
    if !inside("what_the_policy_forbids_is_not_done") {
        return;
    }
    let hosts = Hosts::new(3);
    let mut rule = anything();
    rule["place"] = "policy.yaml:2".into();
    rule["interfaces"] = serde_json::json!(["eth1", "eth2", "wlan*", "*:1"]);
    rule["max_subflows"] = 2.into();
    rule["backup"] = false.into();
    rule["announce"] = "own".into();
    let broker = Running::start(&hosts.client, &rule);
    let _server = Running::start(&hosts.server, &anything());
    let listener = hosts.listen(false);
    let (client, _peer) = hosts.connect(&listener, false);
    let mut manager = Manager::broker(&broker.socket).unwrap();
    let forbidden = |error: Result<_, Error>| match error {
        Err(Error::Forbidden { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let address = |link| hosts.client_address(link, false);
    let third = manager.open_subflow(&client, &from(address(3)));
    assert_eq!(
        forbidden(third.map(drop)),
        "policy.yaml:2: interface eth3 is not among `interfaces`"
    );
    let bound = Open {
        interface: Some("eth3".to_owned()),
        ..from(address(2))
    };
    forbidden(manager.open_subflow(&client, &bound).map(drop));
    // Nor is it by another of its names, or by one that the kernel would cut.
    ip(&hosts.client, "link property add dev eth3 altname wlan3");
    ip(&hosts.client, "link property add dev eth2 altname second");
    let by = |name: &str| Open {
        interface: Some(name.to_owned()),
        ..from(address(2))
    };
    let reason = forbidden(manager.open_subflow(&client, &by("wlan3")).map(drop));
    assert!(reason.contains("interface eth3 "), "{reason}");
    for name in ["eth3:1", "eth3\0:1", "eth2\0", "wlan4", ""] {
        let refused = manager.open_subflow(&client, &by(name));
        let name = name.to_owned();
        assert_eq!(refused, Err(Error::NoInterface { name }));
    }
    let named = manager.open_subflow(&client, &by("second")).unwrap();
    manager.close_subflow(&client, named).unwrap();
    let third = SocketAddr::new(address(3), 0);
    forbidden(manager.announce(&client, third).map(drop));
    manager
        .announce(&client, SocketAddr::new(address(2), 0))
        .unwrap();
    let foreign = SocketAddr::from(([192, 0, 2, 1], 0));
    let error = manager.announce(&client, foreign);
    assert_eq!(error, Err(Error::NotLocal { address: foreign }));
    let second = manager.open_subflow(&client, &from(address(2))).unwrap();
    forbidden(manager.set_backup(&client, second, true));
    let error = manager.open_subflow(&client, &from(address(2)));
    assert_eq!(error, Err(Error::LimitReached { limit: 2 }));
    manager.close_subflow(&client, second).unwrap();

    let mut nobody = anything();
    nobody["users"] = serde_json::json!({"these": [12345]});
    let broker = Running::start(&hosts.client, &nobody);
    let mut manager = Manager::broker(&broker.socket).unwrap();
    let refused = manager.close_subflow(&client, 0);
    assert_eq!(forbidden(refused), "no rule names you");
}
