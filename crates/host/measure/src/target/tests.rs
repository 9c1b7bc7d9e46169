//! The protocol as a target speaks it, with a probe of bare messages.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use rustls::Connection;

use super::*;
use crate::authorisation::GO;
use crate::channel::{Channel, Limits};
use crate::client::Session;
use crate::frame::LONGEST_REPORT_BYTES;
use crate::message::{Answer, Experiment, Request, Role, VERSION};
use crate::token::{from_hex, hex};

const LONG: Duration = Duration::from_secs(20);

fn ask(channel: &mut Channel, request: &Request) -> Answer {
    let mut goes_on = || true;
    channel
        .send(request, Limits::new(LONG, &mut goes_on))
        .unwrap();
    answer(channel)
}

fn answer(channel: &mut Channel) -> Answer {
    let mut goes_on = || true;
    let limits = Limits::new(LONG, &mut goes_on);
    channel.receive(LONGEST_REPORT_BYTES, limits).unwrap()
}

fn open(address: SocketAddr, token: &Token) -> Channel {
    let tls = Connection::from(crate::tls::client(token.fingerprint).unwrap());
    let stream = TcpStream::connect(address).unwrap();
    let mut goes_on = || true;
    Channel::open(tls, stream, Limits::new(LONG, &mut goes_on)).unwrap()
}

/// A session of a holder.
fn session(address: SocketAddr, token: &Token) -> Channel {
    let mut channel = open(address, token);
    let Answer::Hello { challenge, .. } = answer(&mut channel) else {
        panic!("a challenge comes first")
    };
    let proof = token.secret().prove(&from_hex(&challenge).unwrap());
    let request = Request::Prove {
        version: VERSION,
        holder: token.holder(),
        proof: hex(&proof),
    };
    assert!(matches!(ask(&mut channel, &request), Answer::Welcome(_)));
    channel
}

#[test]
fn an_end_of_another_version_is_told_what_to_do() {
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        data_port: 0,
        rate_limit_bps: None,
        volume_limit_bytes: None,
    };
    let identity = Identity::new(1).unwrap();
    let target = Target::bind(&config, &identity).unwrap();
    let address = target.address().unwrap();
    let (stop, stopped) = UnixStream::pair().unwrap();
    let serving = thread::spawn(move || target.run(stopped).unwrap());
    let token = &identity.tokens[0];
    let mut channel = open(address, token);
    assert!(
        matches!(answer(&mut channel), Answer::Hello { versions, .. } if versions == [VERSION])
    );
    let old = Request::Prove {
        version: VERSION - 1,
        holder: token.holder(),
        proof: String::new(),
    };
    let Answer::Refused { reason } = ask(&mut channel, &old) else {
        panic!("refused")
    };
    let told = "version 2 of the protocol is spoken here, and 1 by the probe: install the same";
    assert!(reason.starts_with(told), "{reason}");
    drop(stop);
    serving.join().unwrap();

    let old_target = listen("127.0.0.1:0".parse().unwrap(), Protocol::TCP).unwrap();
    old_target.set_nonblocking(false).unwrap();
    let port = old_target.local_addr().unwrap().port();
    let tls = server_config(&identity.certificate, &identity.key).unwrap();
    let serving = thread::spawn(move || {
        let (stream, _) = old_target.accept().unwrap();
        let tls = Connection::from(rustls::ServerConnection::new(tls).unwrap());
        let mut goes_on = || true;
        let mut channel = Channel::open(tls, stream, Limits::new(LONG, &mut goes_on)).unwrap();
        let hello = Answer::Hello {
            versions: vec![VERSION - 1],
            challenge: String::new(),
        };
        channel
            .send(&hello, Limits::new(LONG, &mut goes_on))
            .unwrap();
    });
    let refused = Session::connect("127.0.0.1", port, token, || true);
    let told = refused.err().expect("refused").to_string();
    let expected =
        "the target speaks versions [1] of the protocol, and this program 2: install the";
    assert!(told.contains(expected), "{told}");
    serving.join().unwrap();
}

/// The first byte that a target sends on a connection for data that begins so.
fn first_byte(at: (IpAddr, u16), opening: &[u8]) -> Option<u8> {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.write_all(opening).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut first = [0];
    let count = stream.read(&mut first).unwrap();
    (count == 1).then_some(first[0])
}

#[test]
fn a_lease_is_one_holders_its_openings_are_good_once_and_it_ends_with_its_session() {
    let config = Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        data_port: 0,
        rate_limit_bps: None,
        volume_limit_bytes: None,
    };
    let identity = Identity::new(2).unwrap();
    let target = Target::bind(&config, &identity).unwrap();
    let address = target.address().unwrap();
    let data = (address.ip(), target.data_port());
    let (stop, stopped) = UnixStream::pair().unwrap();
    let serving = thread::spawn(move || target.run(stopped).unwrap());
    let [one, other] = &identity.tokens[..] else {
        panic!("two tokens")
    };
    let (mut first, mut second) = (session(address, one), session(address, other));
    let reserve = Request::Reserve(Experiment {
        bytes: 1_000,
        longest_ms: 60_000,
        congestion_control: None,
        connections: vec![Role::Receive, Role::Receive],
    });
    let Answer::Granted { nonce } = ask(&mut first, &reserve) else {
        panic!("granted")
    };
    assert!(matches!(ask(&mut second, &reserve), Answer::Busy { .. }));
    let nonce = from_hex(&nonce).unwrap();
    let of_other = other.secret().opening(&nonce, 0);
    let right = one.secret().opening(&nonce, 0);
    assert_eq!(first_byte(data, &of_other), None);
    assert_eq!(first_byte(data, &right), Some(GO));
    assert_eq!(first_byte(data, &right), None);
    drop(first);
    // It notices that at once, or a little later, and long before the lease is over.
    let is_granted = (0..1_000).any(|_| {
        thread::sleep(Duration::from_millis(20));
        matches!(ask(&mut second, &reserve), Answer::Granted { .. })
    });
    assert!(is_granted);
    drop(stop);
    serving.join().unwrap();
}
