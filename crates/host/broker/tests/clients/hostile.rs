//! Clients that want harm: nothing of theirs reaches another's connection, and nothing stays behind.

use std::fs::File;
use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use mptcplab_subflow::protocol::{Command, Message, Request, VERSION};
use mptcplab_subflow::{Error, Open, connection, subflow_ids};
use mptcplab_testbed::{inside, ip};
use socket2::{Domain, Protocol, Socket, Type};

use crate::session::{MOST_DESCRIPTORS, RawSession, bytes_of, wait_for_end};
use crate::stage::{CLOSE, Stage};

fn mptcp() -> Socket {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).expect("MPTCP")
}

#[test]
fn wrong_descriptors_are_refused_by_kind_and_closed() {
    if !inside("hostile::wrong_descriptors_are_refused_by_kind_and_closed") {
        return;
    }
    let mut stage = Stage::new(2);
    let session = stage.session();
    let ask = |descriptor: BorrowedFd<'_>| session.ask(CLOSE, &[descriptor]).unwrap_err();
    ask(stage.client.as_fd());
    let before = stage.broker.descriptors();

    let (pipe, _writer) = std::io::pipe().unwrap();
    let (unix, _other) = UnixStream::pair().unwrap();
    let others = || {
        let plain = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(plain.local_addr().unwrap()).unwrap();
        (plain, tcp, UdpSocket::bind("127.0.0.1:0").unwrap())
    };
    let (plain, tcp, udp) = stage.hosts.client.run(others).unwrap();
    let files: [OwnedFd; 3] = [
        File::open("/proc/self/exe").unwrap().into(),
        File::open("/proc/self/ns/net").unwrap().into(),
        pipe.into(),
    ];
    for file in &files {
        assert_eq!(ask(file.as_fd()), Error::NotMptcp);
    }
    for other in [
        unix.as_fd(),
        tcp.as_fd(),
        plain.as_fd(),
        udp.as_fd(),
        session.0.as_fd(),
    ] {
        assert_eq!(ask(other), Error::NotMptcp);
    }
    let unconnected = stage.hosts.client.run(mptcp).unwrap();
    assert_eq!(ask(unconnected.as_fd()), Error::NotConnected);
    assert_eq!(ask(stage.listener.0.as_fd()), Error::NotConnected);
    // Of another namespace: the other end of the very connection.
    assert_eq!(ask(stage.peer.as_fd()), Error::ForeignNamespace);
    // Of a connection that is no more.
    stage.client.write_all(b"unread").unwrap();
    // Data that comes later than the end is no reason to reset the connection.
    stage.peer.peek(&mut [0]).unwrap();
    drop(stage.peer);
    while connection(&stage.client).is_ok() {
        thread::yield_now();
    }
    let error = ask(stage.client.as_fd());
    assert!(
        matches!(
            error,
            Error::NotConnected | Error::NotMptcp | Error::NoSuchSubflow { .. }
        ),
        "{error}"
    );
    stage.broker.wait_for_descriptors(before);
}

#[test]
fn a_connection_that_fell_back_is_told_so() {
    if !inside("hostile::a_connection_that_fell_back_is_told_so") {
        return;
    }
    let stage = Stage::new(1);
    let plain = stage
        .hosts
        .server
        .run(|| TcpListener::bind("0.0.0.0:0").unwrap())
        .unwrap();
    let target = (
        stage.hosts.server_address(1, false),
        plain.local_addr().unwrap().port(),
    );
    let connected = stage.hosts.client.run(|| {
        let socket = mptcp();
        socket
            .connect(&std::net::SocketAddr::from(target).into())
            .unwrap();
        socket
    });
    let client = connected.unwrap();
    let error = stage.session().ask(CLOSE, &[client.as_fd()]);
    assert!(matches!(error, Err(Error::FellBack { .. })), "{error:?}");
}

#[test]
fn any_number_of_descriptors_but_one_is_refused_and_all_are_closed() {
    if !inside("hostile::any_number_of_descriptors_but_one_is_refused_and_all_are_closed") {
        return;
    }
    let stage = Stage::new(1);
    let session = stage.session();
    for count in [0, 2, 3, MOST_DESCRIPTORS] {
        for bytes in [bytes_of(CLOSE), b"garbage".to_vec(), vec![b' '; 5000]] {
            let (reader, writer) = std::io::pipe().unwrap();
            session.send(&bytes, &vec![writer.as_fd(); count]).unwrap();
            drop(writer);
            let answer = session.receive().unwrap();
            let wanted = format!("{answer:?}");
            assert!(wanted.contains("Failed"), "{wanted}");
            // No process has it any more, the broker included.
            wait_for_end(&reader);
        }
    }
    assert!(!session.has_answer(), "one each");
    // One message after another, of which no answer is read.
    let (reader, writer) = std::io::pipe().unwrap();
    let hurry = stage.session();
    rustix::io::ioctl_fionbio(&hurry.0, true).unwrap();
    while hurry
        .send(b"garbage", &[writer.as_fd(); MOST_DESCRIPTORS])
        .is_ok()
    {}
    drop((writer, hurry));
    wait_for_end(&reader);
}

#[test]
fn messages_of_any_shape_are_answered_one_by_one() {
    if !inside("hostile::messages_of_any_shape_are_answered_one_by_one") {
        return;
    }
    let stage = Stage::new(1);
    let session = stage.session();
    let whole = bytes_of(CLOSE);
    let other_version = Request {
        version: VERSION + 1,
        id: 1,
        command: CLOSE,
    };
    let shapes: Vec<Vec<u8>> = vec![
        whole[..whole.len() / 2].to_vec(),
        vec![b' '; 5000],
        vec![b'['; 4096],
        br#"{"version":1,"id":1,"order":{"watch":{}},"order":{"watch":{}}}"#.to_vec(),
        br#"{"version":1,"id":-1,"order":{"watch":{}}}"#.to_vec(),
        br#"{"version":1,"id":1e400,"order":{"watch":{}}}"#.to_vec(),
        br#"{"version":1,"id":1,"order":{"close":{"subflow":1,"token":7}}}"#.to_vec(),
        vec![0; 100],
        vec![0xff; 4096],
        other_version.to_bytes(),
        [whole.clone(), whole.clone()].concat(),
    ];
    for shape in shapes {
        session.send(&shape, &[stage.client.as_fd()]).unwrap();
        let answer = format!("{:?}", session.receive().unwrap());
        assert!(
            answer.contains("Failed { id: 0, error: Protocol"),
            "{answer}"
        );
    }
    // The session goes on.
    let initial = subflow_ids(&stage.client).unwrap()[0];
    let backup = Command::SetBackup {
        subflow: initial,
        backup: true,
    };
    assert_eq!(session.ask(backup, &[stage.client.as_fd()]), Ok(()));
    let too_long = Command::GetOption {
        subflow: initial,
        level: libc::IPPROTO_TCP,
        option: libc::TCP_CONGESTION,
        length: 257,
    };
    let error = session.ask(too_long, &[stage.client.as_fd()]);
    assert!(matches!(error, Err(Error::Protocol { .. })), "{error:?}");
}

#[test]
fn an_empty_message_is_answered_as_such_and_ends_nothing() {
    if !inside("hostile::an_empty_message_is_answered_as_such_and_ends_nothing") {
        return;
    }
    let stage = Stage::new(1);
    let session = stage.session();
    for with in [&[][..], &[stage.client.as_fd()]] {
        session.send(b"", with).unwrap();
        let answer = session.receive().expect("it goes on");
        let reason = "the message is empty".to_owned();
        let error = Error::Protocol { reason };
        assert_eq!(answer, Message::Failed { id: 0, error });
    }
    let error = session.ask(CLOSE, &[stage.client.as_fd()]);
    assert_eq!(error, Err(Error::NoSuchSubflow { id: 77 }));
}

#[test]
fn a_client_that_hangs_up_leaves_nothing_behind() {
    if !inside("hostile::a_client_that_hangs_up_leaves_nothing_behind") {
        return;
    }
    let stage = Stage::new(2);
    ip(&stage.hosts.server, "route add blackhole 10.0.2.2/32");
    let calm = stage.session();
    calm.ask(CLOSE, &[]).unwrap_err();
    let before = stage.broker.descriptors();
    let hopeless = Open {
        timeout: Duration::MAX,
        ..stage.other()
    };
    let open = bytes_of(Command::Open(hopeless));
    let sessions: Vec<RawSession> = (0..20).map(|_| stage.session()).collect();
    for session in &sessions {
        session.send(&open, &[stage.client.as_fd()]).unwrap();
    }
    while connection(&stage.client).unwrap().subflows.len() < 21 {
        thread::yield_now();
    }
    let watching = stage.session();
    assert_eq!(
        watching.ask(Command::Watch {}, &[stage.client.as_fd()]),
        Ok(())
    );
    // No socket is kept for a watch.
    assert_eq!(stage.broker.descriptors(), before + 20 * 2 + 1);
    drop(sessions);
    while connection(&stage.client).unwrap().subflows.len() > 1 {
        thread::yield_now();
    }
    // The connection ends under the watch.
    let Stage {
        broker,
        client,
        peer,
        ..
    } = stage;
    drop((client, peer));
    while watching.receive().is_some() {}
    drop(watching);
    broker.wait_for_descriptors(before);
}
