//! Others that connect: they are disconnected, and switches are served as before.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mptcplab_controller_server::{Config, Limits};
use mptcplab_openflow::setup::{Capabilities, Features, Role, RoleMessage};
use mptcplab_openflow::{Body, Hello, Message};

use crate::certificates::Authority;
use crate::network::Network;
use crate::serving::{PATIENCE, Serving, config};

fn connect(to: &Serving) -> TcpStream {
    let stream = TcpStream::connect(to.address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}

/// Waits until the server has closed the connection.
fn wait_for_end(stream: &mut TcpStream) {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return,
            Err(error) => panic!("it goes on: {error}"),
        }
    }
}

fn bytes(messages: impl IntoIterator<Item = Body>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for body in messages {
        let message = Message::new(1, body);
        message.encode(&mut bytes).expect("not too long");
    }
    bytes
}

/// A triangle of switches that is served.
fn served(limits: Limits) -> (Serving, Network) {
    let serving = Serving::start(&Config { limits, ..config() });
    let mut network = Network::new();
    (1..=3).for_each(|datapath| network.connect(datapath, &serving, None));
    serving.wait("link_up", 3, || network.turn());
    (serving, network)
}

#[test]
fn bytes_that_are_no_openflow_end_their_connection_alone() {
    let (serving, mut network) = served(Limits::default());
    let hello = bytes([Body::Hello(Hello::ours())]);
    let garbage: [&[u8]; 6] = [
        // Its third and fourth byte are a length.
        &[b"GET / HTTP/1.1\r\nHost: ", &[b'a'; 30_000][..]].concat(),
        &[0xff; 65_536],
        // A length of less than a header.
        &[4, 2, 0, 7, 0, 0, 0, 0],
        // Version 1 of a message that is no hello.
        &[1, 5, 0, 8, 0, 0, 0, 0],
        // A type that there is not.
        &[4, 200, 0, 8, 0, 0, 0, 0],
        // Features that are cut.
        &[4, 6, 0, 12, 0, 0, 0, 0, 1, 2, 3, 4],
    ];
    for (number, one) in garbage.into_iter().enumerate() {
        for begin in [&[][..], &hello] {
            let mut stream = connect(&serving);
            // The server may have closed before all is written.
            let _ = stream.write_all(begin);
            let _ = stream.write_all(one);
            wait_for_end(&mut stream);
        }
        serving.wait("channel_closed", 2 * (number + 1), || network.turn());
    }
    let reasons: Vec<String> = serving.lines();
    let mut closed = reasons
        .iter()
        .filter(|line| line.starts_with("channel_closed"));
    assert!(closed.all(|line| line.contains("no message of OpenFlow 1.3")));
    network.disconnect(1);
    network.connect(1, &serving, None);
    serving.wait("switch_up", 4, || network.turn());
    serving.end();
}

#[test]
fn messages_that_are_longer_than_the_limit_end_the_connection() {
    let limits = Limits {
        message_bytes: 4096,
        ..Limits::default()
    };
    let (serving, mut network) = served(limits);
    let mut stream = connect(&serving);
    let long = bytes([Body::EchoRequest(vec![0; 5000])]);
    let _ = stream.write_all(&long);
    wait_for_end(&mut stream);
    serving.wait("channel_closed", 1, || network.turn());
    assert_eq!(serving.count("switch_down"), 0);
    serving.end();
}

#[test]
fn silent_connections_end_in_time() {
    let limits = Limits {
        unknown_ms: 50,
        ..Limits::default()
    };
    let serving = Serving::start(&Config { limits, ..config() });
    let mut silent = connect(&serving);
    // A hello alone, and features that nobody has asked for.
    let mut talking = connect(&serving);
    let features = Body::FeaturesReply(features(9));
    talking.write_all(&bytes([features])).expect("written");
    wait_for_end(&mut silent);
    wait_for_end(&mut talking);
    serving.wait("channel_closed", 2, || {});
    assert_eq!(serving.count("features"), 0);
    let lines = serving.end();
    let late = |line: &&String| line.ends_with("reason=\"no features in time\"");
    assert_eq!(lines.iter().filter(late).count(), 2, "{lines:#?}");
}

#[test]
fn many_silent_connections_keep_no_switch_out() {
    let limits = Limits {
        unknown: 4,
        ..Limits::default()
    };
    let serving = Serving::start(&Config { limits, ..config() });
    let silent: Vec<TcpStream> = (0..50).map(|_| connect(&serving)).collect();
    serving.wait("channel_closed", 46, || {});
    let mut network = Network::new();
    network.connect(1, &serving, None);
    serving.wait("switch_up", 1, || network.turn());
    drop(silent);
    serving.end();
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let limits = Limits {
        connections: 2,
        ..Limits::default()
    };
    let serving = Serving::start(&Config { limits, ..config() });
    let mut network = Network::new();
    (1..=2).for_each(|datapath| network.connect(datapath, &serving, None));
    serving.wait("switch_up", 2, || network.turn());
    let mut third = connect(&serving);
    wait_for_end(&mut third);
    serving.wait("not_accepted", 1, || network.turn());
    // There is room again.
    network.disconnect(2);
    serving.wait("channel_closed", 1, || network.turn());
    network.connect(3, &serving, None);
    serving.wait("switch_up", 3, || network.turn());
    serving.end();
}

#[test]
fn a_switch_that_does_not_read_is_disconnected() {
    let limits = Limits {
        unread_bytes: 100_000,
        ..Limits::default()
    };
    let (serving, mut network) = served(limits);
    let mut stream = connect(&serving);
    let write_timeout = Some(Duration::from_millis(100));
    stream.set_write_timeout(write_timeout).expect("set");
    stream
        .write_all(&bytes([Body::Hello(Hello::ours())]))
        .expect("written");
    let echo = bytes((0..10).map(|_| Body::EchoRequest(vec![7; 50_000])));
    // Each echo is answered, and no answer is read.
    serving.wait("channel_closed", 1, || {
        let _ = stream.write(&echo);
        network.turn();
    });
    let lines = serving.end();
    let is_unread = |line: &&String| line.ends_with("reason=\"the switch does not read\"");
    assert_eq!(lines.iter().filter(is_unread).count(), 1, "{lines:#?}");
}

#[test]
fn a_switch_may_say_anything_once_it_is_known() {
    let (serving, mut network) = served(Limits::default());
    let mut stream = connect(&serving);
    let role = RoleMessage {
        role: Role::Master,
        generation_id: 3,
    };
    let said = [
        Body::Hello(Hello::ours()),
        Body::FeaturesReply(features(77)),
        Body::RoleReply(role),
        Body::BarrierReply,
        Body::Hello(Hello::ours()),
        Body::FeaturesReply(features(1)),
        Body::FeaturesRequest,
        Body::BarrierRequest,
    ];
    stream.write_all(&bytes(said)).expect("written");
    serving.wait("features", 4, || network.turn());
    assert_eq!(serving.count("switch_down"), 0);
    drop(stream);
    serving.wait("channel_closed", 1, || network.turn());
    serving.end();
}

#[test]
fn by_tls_only_switches_with_a_certificate_of_the_authority_are_served() {
    let (authority, other) = (Authority::new(), Authority::new());
    let tls = Some(authority.server());
    let serving = Serving::start(&Config { tls, ..config() });
    let mut network = Network::new();
    network.connect(1, &serving, Some(authority.client(None)));
    network.connect(2, &serving, Some(authority.client(Some(&other))));
    serving.wait("channel_closed", 2, || network.turn());
    // OpenFlow without TLS.
    let mut plain = connect(&serving);
    plain
        .write_all(&bytes([Body::Hello(Hello::ours())]))
        .expect("written");
    wait_for_end(&mut plain);
    serving.wait("channel_closed", 3, || network.turn());
    assert_eq!(serving.count("features"), 0);
    network.connect(3, &serving, Some(authority.client(Some(&authority))));
    serving.wait("switch_up", 1, || network.turn());
    serving.end();
}

fn features(datapath_id: u64) -> Features {
    Features {
        datapath_id,
        n_buffers: 0,
        n_tables: 1,
        auxiliary_id: 0,
        capabilities: Capabilities::default(),
    }
}
