//! A probe and a target of this process, over the loopback.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mptcplab_measure::Error;
use mptcplab_measure::authorisation::Secret;
use mptcplab_measure::client::{Measured, Plan, Protocol, Session, Wanted};
use mptcplab_measure::message::Role;
use mptcplab_measure::target::{Config, Identity, Target};
use mptcplab_measure::token::Token;

/// A target that serves until this is dropped.
struct Running {
    address: SocketAddr,
    data_port: u16,
    tokens: Vec<Token>,
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            data_port: 0,
            rate_limit_bps: None,
            volume_limit_bytes: None,
        };
        change(&mut config);
        let identity = Identity::new(2).unwrap();
        let target = Target::bind(&config, &identity).unwrap();
        let (stop, stopped) = UnixStream::pair().unwrap();
        Self {
            address: target.address().unwrap(),
            data_port: target.data_port(),
            tokens: identity.tokens,
            stop: Some(stop),
            thread: Some(thread::spawn(move || target.run(stopped).unwrap())),
        }
    }

    fn session(&self, holder: usize) -> Session {
        Session::connect(
            "127.0.0.1",
            self.address.port(),
            &self.tokens[holder],
            || true,
        )
        .unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn loopback() -> IpAddr {
    Ipv4Addr::LOCALHOST.into()
}

fn wanted(protocol: Protocol, role: Role) -> Wanted {
    Wanted {
        source: loopback(),
        device: None,
        target: loopback(),
        protocol,
        role,
        interval_ms: 0,
        witness: false,
        fast_open: false,
    }
}

fn run(session: &mut Session, bytes: u64, connections: Vec<Wanted>) -> Measured {
    let plan = Plan {
        bytes,
        longest_ms: 20_000,
        congestion_control: Some("reno".to_owned()),
        connections,
    };
    session.run(&plan, u64::MAX, |_| true).unwrap()
}

#[test]
fn both_ends_tell_the_same_of_what_was_carried() {
    let running = Running::start(|_| {});
    let mut session = running.session(0);
    for protocol in [Protocol::Tcp, Protocol::Mptcp] {
        for role in [Role::Send, Role::Receive] {
            let measured = run(&mut session, 3_000_001, vec![wanted(protocol, role)]);
            let [one] = &measured.connections[..] else {
                panic!("one connection")
            };
            let target = one.target.as_ref().expect("the target saw it");
            assert_eq!((&one.failure, &target.failure), (&None, &None));
            let (sender, receiver) = match role {
                Role::Send => (target, &one.probe),
                _ => (&one.probe, target),
            };
            assert_eq!(
                (sender.sent_bytes, receiver.received_bytes),
                (3_000_001, 3_000_001)
            );
            assert_eq!((sender.received_bytes, receiver.sent_bytes), (0, 0));
            assert_eq!(receiver.moved_by_all_bytes, 3_000_001);
            assert!(receiver.duration_us > 0);
            assert_eq!(measured.moved_bytes, 3_000_001 + 38);
            let is_mptcp = protocol == Protocol::Mptcp;
            assert_eq!(
                (one.probe.seen.mptcp, target.seen.mptcp),
                (is_mptcp, is_mptcp)
            );
            for end in [&one.probe, target] {
                let control = end.seen.congestion_control.as_deref();
                assert_eq!(control, Some("reno"), "{protocol:?}, {role:?}");
            }
            let expected: &[IpAddr] = if is_mptcp { &[loopback()] } else { &[] };
            assert_eq!(one.sources, expected);
        }
    }
}

#[test]
fn a_target_without_a_congestion_control_says_so_and_goes_on() {
    let running = Running::start(|_| {});
    let mut session = running.session(0);
    let mut plan = Plan {
        bytes: 1_000,
        longest_ms: 10_000,
        congestion_control: Some("nosuch".to_owned()),
        connections: vec![wanted(Protocol::Tcp, Role::Send)],
    };
    let refused = session.run(&plan, u64::MAX, |_| true).unwrap_err();
    let told = refused.to_string();
    assert!(
        told.starts_with("the target refuses: congestion control nosuch: the kernel has none"),
        "{told}"
    );
    plan.congestion_control = Some("of a name that is too long".to_owned());
    let refused = session.run(&plan, u64::MAX, |_| true).unwrap_err();
    assert!(refused.to_string().contains("1 to 15 letters"), "{refused}");
    plan.congestion_control = None;
    let measured = session.run(&plan, u64::MAX, |_| true).unwrap();
    assert_eq!(measured.connections[0].probe.received_bytes, 1_000);
}

#[test]
fn several_connections_carry_together_what_was_granted() {
    let running = Running::start(|config| config.rate_limit_bps = Some(8_000_000));
    for role in [Role::Send, Role::Receive] {
        let two = vec![wanted(Protocol::Tcp, role); 2];
        let measured = run(&mut running.session(0), 1_000_000, two);
        let both = measured.connections.iter();
        let moved: u64 = both
            .map(|one| one.probe.sent_bytes + one.probe.received_bytes)
            // A second is enough for the other one to begin.
            .inspect(|moved| assert!(role == Role::Receive || *moved > 0))
            .sum();
        assert_eq!(moved, 1_000_000);
    }
}

#[test]
fn echoes_give_round_trip_times_and_a_witness_shows_its_syn() {
    let running = Running::start(|_| {});
    let witness = Wanted {
        witness: true,
        ..wanted(Protocol::Mptcp, Role::Echo(5))
    };
    let alone = wanted(Protocol::Mptcp, Role::Echo(7));
    let measured = run(&mut running.session(0), 0, vec![witness, alone]);
    let [witness, alone] = &measured.connections[..] else {
        panic!("two connections")
    };
    assert_eq!((witness.rtts_us.len(), alone.rtts_us.len()), (5, 7));
    let syn = witness
        .target
        .as_ref()
        .unwrap()
        .syn
        .as_ref()
        .expect("a SYN");
    assert!(syn.names.contains(&"mp-capable".to_owned()), "{syn:?}");
    // A listener of TCP has answered: the options came, and none went back.
    assert!(!witness.probe.seen.mptcp && alone.probe.seen.mptcp);
    assert!(alone.target.as_ref().unwrap().syn.is_none());
}

/// Passes bytes on in both directions, and changes one of those to the target.
fn relay(listener: TcpListener, target: SocketAddr, changed: usize) -> JoinHandle<()> {
    thread::spawn(move || {
        let (mut near, _) = listener.accept().unwrap();
        let mut far = TcpStream::connect(target).unwrap();
        let (mut from_far, mut to_near) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        let back = thread::spawn(move || {
            let _ = std::io::copy(&mut from_far, &mut to_near);
            let _ = to_near.shutdown(std::net::Shutdown::Write);
        });
        let (mut place, mut buffer) = (0, [0; 1000]);
        while let Ok(count @ 1..) = near.read(&mut buffer) {
            if (place..place + count).contains(&changed) {
                buffer[changed - place] ^= 1;
            }
            place += count;
            if far.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = far.shutdown(std::net::Shutdown::Write);
        back.join().unwrap();
    })
}

#[test]
fn payload_that_is_changed_on_the_way_is_told_by_the_end_that_gets_it() {
    let running = Running::start(|_| {});
    let mut session = running.session(0);
    let one = wanted(Protocol::Mptcp, Role::Compare(10_000));
    let changed = |measured: &Measured| {
        let one = &measured.connections[0];
        let target = one.target.as_ref().map(|end| end.changed_bytes);
        (one.probe.changed_bytes, target, one.refused)
    };
    let measured = run(&mut session, 0, vec![one.clone()]);
    assert_eq!(changed(&measured), (Some(0), Some(Some(0)), false));
    assert_eq!(measured.moved_bytes, 2 * 10_000 + 38);
    // The first bytes are its opening.
    for (place, expected) in [
        (5_000, (Some(0), Some(Some(1)), false)),
        (20, (None, None, true)),
    ] {
        let between: IpAddr = Ipv4Addr::new(127, 0, 0, 2).into();
        let listener = TcpListener::bind((between, running.data_port)).unwrap();
        let target = SocketAddr::new(loopback(), running.data_port);
        let relay = relay(listener, target, place);
        let through = Wanted {
            target: between,
            ..one.clone()
        };
        let measured = run(&mut session, 0, vec![through]);
        assert_eq!(changed(&measured), expected, "{measured:?}");
        relay.join().unwrap();
    }
}

#[test]
fn one_experiment_at_a_time_and_a_lost_probe_frees_the_target() {
    let running = Running::start(|_| {});
    let mut first = running.session(0);
    let mut second = running.session(1);
    let plan = Plan {
        bytes: 1 << 40,
        longest_ms: 60_000,
        congestion_control: None,
        connections: vec![wanted(Protocol::Tcp, Role::Send)],
    };
    thread::scope(|scope| {
        let (begun, wait) = std::sync::mpsc::channel();
        scope.spawn(move || {
            let stopped = first.run(&plan, u64::MAX, |moved| {
                let _ = begun.send(moved);
                moved < 1_000_000
            });
            let stopped = stopped.unwrap();
            assert!(stopped.stopped && stopped.moved_bytes > 1_000_000);
        });
        wait.recv().unwrap();
        let measured = run(&mut second, 1_000, vec![wanted(Protocol::Tcp, Role::Send)]);
        assert_eq!(measured.connections[0].probe.received_bytes, 1_000);
    });
}

#[test]
fn a_budget_is_kept_before_and_in_an_experiment() {
    let running = Running::start(|_| {});
    let mut session = running.session(0);
    let plan = Plan {
        bytes: 10_000,
        longest_ms: 10_000,
        congestion_control: None,
        connections: vec![wanted(Protocol::Tcp, Role::Send)],
    };
    let refused = session.run(&plan, 10_000, |_| true);
    assert!(matches!(refused, Err(Error::Budget)));
    let control = session.control_bytes();
    // Enough for the data and the grant, and not for the report.
    let cut = session.run(&plan, 10_600, |_| true).unwrap();
    assert!(cut.stopped && cut.connections[0].target.is_none());
    let moved = session.payload_bytes() + session.control_bytes() - control;
    assert!(cut.moved_bytes == 10_038 && moved <= 10_600, "{moved}");
}

#[test]
fn strangers_get_no_byte() {
    let running = Running::start(|config| config.rate_limit_bps = Some(80_000_000));
    let mut holder = running.session(0);
    let plan = Plan {
        bytes: 1 << 40,
        longest_ms: 60_000,
        congestion_control: None,
        connections: vec![wanted(Protocol::Tcp, Role::Send)],
    };
    // Its lease lasts while strangers try.
    let mut is_tried = false;
    let held = holder.run(&plan, u64::MAX, |moved| {
        if moved > 0 && !is_tried {
            is_tried = true;
            strangers_try(&running);
        }
        !is_tried
    });
    assert!(is_tried && held.unwrap().connections[0].probe.received_bytes > 0);
    strangers_try(&running);
}

fn strangers_try(running: &Running) {
    let garbage = vec![0x4d; 5_000];
    // Of the right form, by a secret that is not the holder's and by one whose nonce is another.
    let of_other = Secret::new(b"other").opening(&[0; 16], 0);
    let of_before = running.tokens[0].secret().opening(&[0; 16], 0);
    let openings: [&[u8]; 6] = [
        b"GET / HTTP/1.0\r\n\r\n",
        b"MPm1",
        &garbage,
        b"\x16\x03\x01\xff\xff",
        &of_other,
        &of_before,
    ];
    for port in [running.address.port(), running.data_port] {
        for opening in openings {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            let mut answer = Vec::new();
            // Each of them fails once it is reset, as not all was read.
            let _ = stream
                .write_all(opening)
                .and_then(|()| stream.shutdown(std::net::Shutdown::Write));
            let _ = stream.read_to_end(&mut answer);
            // An alert of TLS that the handshake is none is all that anybody gets.
            assert!(
                answer.is_empty() || answer[0] == 21 && answer.len() <= 7,
                "{answer:?}"
            );
        }
    }
}

#[test]
fn a_wrong_token_is_told() {
    let running = Running::start(|_| {});
    let refused = |token: &Token| {
        let refused = Session::connect("127.0.0.1", running.address.port(), token, || true);
        refused.err().expect("refused").to_string()
    };
    let right = &running.tokens[0];
    let of_other_target = Token {
        fingerprint: [0; 32],
        ..right.clone()
    };
    let text = refused(&of_other_target);
    assert!(text.contains("its certificate is another one"), "{text}");
    let withdrawn = Token {
        secret: [0; 32],
        ..right.clone()
    };
    let text = refused(&withdrawn);
    assert!(text.contains("it did not give out this token"), "{text}");
}

#[test]
fn the_volume_of_a_day_is_kept_for_each_holder() {
    let running = Running::start(|config| config.volume_limit_bytes = Some(10_000));
    let one = |holder, bytes| {
        let plan = Plan {
            bytes,
            longest_ms: 10_000,
            congestion_control: None,
            connections: vec![wanted(Protocol::Tcp, Role::Receive)],
        };
        running.session(holder).run(&plan, u64::MAX, |_| true)
    };
    assert!(one(0, 9_000).is_ok());
    assert!(matches!(one(0, 1_001), Err(Error::Refused(_))));
    assert_eq!(running.session(0).terms().volume_left_bytes, Some(1_000));
    assert!(one(0, 1_000).is_ok() && one(1, 10_000).is_ok());
}
