//! Clients that want harm: nothing of theirs reaches another's connection, nothing stays behind, and
//! the honest are served meanwhile.

mod common;
mod process;
mod talk;

use std::fs::File;
use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use common::{Folder, from};
use mptcplab_subflow::protocol::{Order, Request, VERSION};
use mptcplab_subflow::{Error, Manager, Open, connection, subflow_ids};
use mptcplab_testbed::{Hosts, inside, ip};
use process::Process;
use socket2::{Domain, Protocol, Socket, Type};
use talk::{MOST_DESCRIPTORS, Talk, bytes_of, wait_for_end};

const CLOSE: Order = Order::Close { subflow: 77 };

/// Waits until the broker has as few descriptors as before: it closes what has gone in its own time.
fn wait_for_descriptors(broker: &Process, before: usize) {
    while broker.descriptors() > before {
        thread::sleep(Duration::from_millis(5));
    }
}

fn mptcp() -> Socket {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP)).expect("MPTCP")
}

#[test]
fn wrong_descriptors_are_refused_by_kind_and_closed() {
    if !inside("wrong_descriptors_are_refused_by_kind_and_closed") {
        return;
    }
    let hosts = Hosts::new(2);
    let broker = Process::start(&hosts.client, Folder::new());
    let listener = hosts.listen(false);
    let (mut client, server) = hosts.connect(&listener, false);
    let talk = Talk::open(&broker.socket);
    let ask = |descriptor: BorrowedFd<'_>| talk.ask(CLOSE, &[descriptor]).unwrap_err();
    ask(client.as_fd());
    let before = broker.descriptors();

    let (pipe, _writer) = std::io::pipe().unwrap();
    let (unix, _other) = UnixStream::pair().unwrap();
    let others = || {
        let plain = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(plain.local_addr().unwrap()).unwrap();
        (plain, tcp, UdpSocket::bind("127.0.0.1:0").unwrap())
    };
    let (plain, tcp, udp) = hosts.client.run(others).unwrap();
    let files: [OwnedFd; 3] = [
        File::open("/proc/self/exe").unwrap().into(),
        File::open("/proc/self/ns/net").unwrap().into(),
        pipe.into(),
    ];
    for file in &files {
        let error = ask(file.as_fd());
        assert!(matches!(error, Error::Kernel { .. }), "{error}");
    }
    for other in [
        unix.as_fd(),
        tcp.as_fd(),
        plain.as_fd(),
        udp.as_fd(),
        talk.0.as_fd(),
    ] {
        assert_eq!(ask(other), Error::NotMptcp);
    }
    let unconnected = hosts.client.run(mptcp).unwrap();
    assert_eq!(ask(unconnected.as_fd()), Error::NotConnected);
    assert_eq!(ask(listener.0.as_fd()), Error::NotConnected);
    // Of another namespace: the other end of the very connection.
    assert_eq!(ask(server.as_fd()), Error::ForeignNamespace);
    // Of a connection that is no more.
    client.write_all(b"unread").unwrap();
    server.set_nonblocking(true).unwrap();
    drop(server);
    while connection(&client).is_ok() {
        thread::sleep(Duration::from_millis(1));
    }
    let error = ask(client.as_fd());
    assert!(
        matches!(
            error,
            Error::NotConnected | Error::NotMptcp | Error::NoSuchSubflow { .. }
        ),
        "{error}"
    );
    wait_for_descriptors(&broker, before);
}

#[test]
fn a_connection_that_fell_back_is_told_so() {
    if !inside("a_connection_that_fell_back_is_told_so") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Process::start(&hosts.client, Folder::new());
    let plain = hosts
        .server
        .run(|| TcpListener::bind("0.0.0.0:0").unwrap())
        .unwrap();
    let target = (
        hosts.server_address(1, false),
        plain.local_addr().unwrap().port(),
    );
    let connected = hosts.client.run(|| {
        let socket = mptcp();
        socket
            .connect(&std::net::SocketAddr::from(target).into())
            .unwrap();
        socket
    });
    let client = connected.unwrap();
    let error = Talk::open(&broker.socket).ask(CLOSE, &[client.as_fd()]);
    assert!(matches!(error, Err(Error::FellBack { .. })), "{error:?}");
}

#[test]
fn any_number_of_descriptors_but_one_is_refused_and_all_are_closed() {
    if !inside("any_number_of_descriptors_but_one_is_refused_and_all_are_closed") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Process::start(&hosts.client, Folder::new());
    let talk = Talk::open(&broker.socket);
    for count in [0, 2, 3, MOST_DESCRIPTORS] {
        for bytes in [bytes_of(CLOSE), b"garbage".to_vec(), vec![b' '; 5000]] {
            let (reader, writer) = std::io::pipe().unwrap();
            talk.send(&bytes, &vec![writer.as_fd(); count]).unwrap();
            drop(writer);
            let answer = talk.receive().unwrap();
            let wanted = format!("{answer:?}");
            assert!(wanted.contains("Failed"), "{wanted}");
            // Nobody has it any more, the broker included.
            wait_for_end(&reader);
        }
    }
    assert!(!talk.has_answer(), "one each");
    // One message after another, of which no answer is read.
    let (reader, writer) = std::io::pipe().unwrap();
    let hurry = Talk::open(&broker.socket);
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
    if !inside("messages_of_any_shape_are_answered_one_by_one") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Process::start(&hosts.client, Folder::new());
    let listener = hosts.listen(false);
    let (client, _server) = hosts.connect(&listener, false);
    let talk = Talk::open(&broker.socket);
    let whole = bytes_of(CLOSE);
    let other_version = Request {
        version: VERSION + 1,
        id: 1,
        order: CLOSE,
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
        talk.send(&shape, &[client.as_fd()]).unwrap();
        let answer = format!("{:?}", talk.receive().unwrap());
        assert!(
            answer.contains("Failed { id: 0, error: Protocol"),
            "{answer}"
        );
    }
    // The talk goes on.
    let initial = subflow_ids(&client).unwrap()[0];
    let backup = Order::SetBackup {
        subflow: initial,
        backup: true,
    };
    assert_eq!(talk.ask(backup, &[client.as_fd()]), Ok(()));
    let too_long = Order::GetOption {
        subflow: initial,
        level: libc::IPPROTO_TCP,
        option: libc::TCP_CONGESTION,
        length: 257,
    };
    let error = talk.ask(too_long, &[client.as_fd()]);
    assert!(matches!(error, Err(Error::Protocol { .. })), "{error:?}");
}

#[test]
fn a_client_that_hangs_up_leaves_nothing_behind() {
    if !inside("a_client_that_hangs_up_leaves_nothing_behind") {
        return;
    }
    let hosts = Hosts::new(2);
    let broker = Process::start(&hosts.client, Folder::new());
    let listener = hosts.listen(false);
    let (client, server) = hosts.connect(&listener, false);
    ip(&hosts.server, "route add blackhole 10.0.2.2/32");
    let calm = Talk::open(&broker.socket);
    calm.ask(CLOSE, &[]).unwrap_err();
    let before = broker.descriptors();
    let hopeless = Open {
        timeout: Duration::MAX,
        ..from(hosts.client_address(2, false))
    };
    let open = bytes_of(Order::Open(hopeless));
    let talks: Vec<Talk> = (0..20).map(|_| Talk::open(&broker.socket)).collect();
    for talk in &talks {
        talk.send(&open, &[client.as_fd()]).unwrap();
    }
    while connection(&client).unwrap().subflows.len() < 21 {
        thread::sleep(Duration::from_millis(1));
    }
    let watching = Talk::open(&broker.socket);
    assert_eq!(watching.ask(Order::Watch {}, &[client.as_fd()]), Ok(()));
    // No socket is kept for a watch.
    assert_eq!(broker.descriptors(), before + 20 * 2 + 1);
    drop(talks);
    while connection(&client).unwrap().subflows.len() > 1 {
        thread::sleep(Duration::from_millis(1));
    }
    // The connection ends under the watch.
    drop((client, server));
    while watching.receive().is_some() {}
    drop(watching);
    wait_for_descriptors(&broker, before);
}

#[test]
fn one_who_asks_too_fast_is_answered_all_the_same() {
    if !inside("one_who_asks_too_fast_is_answered_all_the_same") {
        return;
    }
    let hosts = Hosts::new(1);
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_mptcplab-broker"));
    let broker = Process::start_as(&hosts.client, Folder::new(), program, |told| {
        told["limits"] = serde_json::json!({"requests_per_second": 100});
    });
    let talks: Vec<Talk> = (0..4).map(|_| Talk::open(&broker.socket)).collect();
    // Half of them beyond what is taken at once.
    for _ in 0..50 {
        for talk in &talks {
            talk.send(b"{", &[]).unwrap();
        }
    }
    for talk in &talks {
        for _ in 0..50 {
            talk.receive().unwrap();
        }
    }
}

#[test]
fn one_who_does_not_read_loses_his_talk_alone() {
    if !inside("one_who_does_not_read_loses_his_talk_alone") {
        return;
    }
    let hosts = Hosts::new(1);
    let broker = Process::start(&hosts.client, Folder::new());
    let _server = Process::start(&hosts.server, Folder::new());
    let listener = hosts.listen(false);
    let (client, _peer) = hosts.connect(&listener, false);
    let deaf = Talk::open(&broker.socket);
    deaf.send(&bytes_of(Order::Watch {}), &[client.as_fd()])
        .unwrap();
    let mut manager = Manager::broker(&broker.socket).unwrap();
    let order = from(hosts.client_address(1, false));
    manager.open_subflow(&client, &order).unwrap();
    let before = broker.descriptors();
    let mut told = 0;
    while broker.descriptors() >= before {
        let id = manager.open_subflow(&client, &order).unwrap();
        manager.close_subflow(&client, id).unwrap();
        told += 1;
        assert!(told < 10_000, "the deaf one is kept");
    }
    let order = from(hosts.client_address(1, false));
    manager.open_subflow(&client, &order).unwrap();
}

#[test]
fn ten_thousand_hostile_messages_do_not_keep_the_honest_from_being_served() {
    if !inside("ten_thousand_hostile_messages_do_not_keep_the_honest_from_being_served") {
        return;
    }
    const TALKS: usize = 20;
    const MESSAGES: usize = 500;
    let hosts = Hosts::new(2);
    let mut broker = Process::start(&hosts.client, Folder::new());
    let _server = Process::start(&hosts.server, Folder::new());
    let listener = hosts.listen(false);
    let (client, _peer) = hosts.connect(&listener, false);
    let mut manager = Manager::broker(&broker.socket).unwrap();
    let order = from(hosts.client_address(2, false));
    manager.open_subflow(&client, &order).unwrap();
    let before = broker.descriptors();
    let whole = bytes_of(Order::Watch {});
    let path = broker.socket.clone();
    let (_reader, writer) = std::io::pipe().unwrap();
    let wrong = [client.as_fd(), writer.as_fd(), listener.0.as_fd()];
    thread::scope(|scope| {
        let hostile = scope.spawn(|| {
            for talk in 0..TALKS {
                let mut talk_of = Talk::open(&path);
                for number in 0..MESSAGES {
                    let cut = &whole[..number % whole.len()];
                    let with = &wrong[..number % 4];
                    let sent = match number % 3 {
                        0 => talk_of.send(cut, with),
                        1 => talk_of.send(&bytes_of(CLOSE), &wrong[1 + number % 2..][..1]),
                        _ => talk_of.send(&vec![number as u8; number * 11], with),
                    };
                    // Half of them never read what is answered, and an empty message is a goodbye.
                    let over = if talk % 2 == 0 && sent.is_ok() {
                        talk_of.receive().is_none()
                    } else {
                        sent.is_err() || number % 50 == 0
                    };
                    if over {
                        talk_of = Talk::open(&path);
                    }
                }
            }
        });
        let mut served = 0;
        while !hostile.is_finished() {
            let id = manager.open_subflow(&client, &order).unwrap();
            manager.close_subflow(&client, id).unwrap();
            served += 1;
        }
        hostile.join().unwrap();
        println!("{served} honest orders to open and close were served meanwhile");
        assert!(served > 0);
    });
    manager.open_subflow(&client, &order).unwrap();
    wait_for_descriptors(&broker, before);
    // One that accepts, one that turns away, one for the only user.
    assert_eq!(broker.tasks().len(), 3);
    assert!(broker.signal("TERM").success());
    let left = std::fs::read_dir(broker.take_folder().0.join("run")).unwrap();
    assert_eq!(left.count(), 0);
}
