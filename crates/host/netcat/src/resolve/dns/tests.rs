use std::net::TcpListener;
use std::thread;

use simple_dns::ResourceRecord;
use simple_dns::rdata::{A, AAAA, CNAME};

use super::*;

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(30);

/// A server on this host that answers by UDP, until the test ends.
fn serve(answer: impl Fn(&Packet<'_>) -> Vec<Vec<u8>> + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut query = [0; LARGEST_DATAGRAM_BYTES];
        while let Ok((length, client)) = socket.recv_from(&mut query) {
            for reply in answer(&Packet::parse(&query[..length]).unwrap()) {
                socket.send_to(&reply, client).unwrap();
            }
        }
    });
    address
}

/// Asks this server with a timeout that does not pass.
fn asking(addresses: Vec<SocketAddr>) -> Servers {
    Servers {
        addresses,
        search: vec!["lab.example".to_owned()],
        dots: 1,
        timeout: LONG,
        attempts: 1,
    }
}

fn reply_to(query: &Packet<'_>, code: RCODE) -> Packet<'static> {
    let mut reply = Packet::new_reply(query.id());
    let asked = query.questions.first().unwrap().clone();
    reply.questions.push(asked.into_owned());
    *reply.rcode_mut() = code;
    reply
}

fn record(data: RData<'static>) -> ResourceRecord<'static> {
    ResourceRecord::new(
        Name::new_unchecked("server.lab.example"),
        CLASS::IN,
        60,
        data,
    )
}

/// The reply of a server that knows one name: an alias, with both kinds of address.
fn known(query: &Packet<'_>) -> Vec<u8> {
    let asked = query.questions.first().unwrap();
    if asked.qname.to_string() != "server.lab.example" {
        return reply_to(query, RCODE::NameError).build_bytes_vec().unwrap();
    }
    let mut reply = reply_to(query, RCODE::NoError);
    let alias = CNAME(Name::new_unchecked("other.lab.example"));
    reply.answers.push(record(RData::CNAME(alias)));
    reply.answers.push(record(match asked.qtype {
        QTYPE::TYPE(TYPE::A) => RData::A(A {
            address: Ipv4Addr::new(10, 0, 1, 6).into(),
        }),
        _ => RData::AAAA(AAAA {
            address: Ipv6Addr::LOCALHOST.into(),
        }),
    }));
    reply.build_bytes_vec().unwrap()
}

fn both() -> Vec<IpAddr> {
    vec![
        Ipv6Addr::LOCALHOST.into(),
        Ipv4Addr::new(10, 0, 1, 6).into(),
    ]
}

#[test]
fn a_name_is_found_as_it_is_and_in_the_domain_that_is_searched() {
    let servers = asking(vec![serve(|query| vec![known(query)])]);
    for name in ["server", "server.lab.example", "server.lab.example."] {
        assert_eq!(servers.look_up(name).unwrap(), both(), "{name}");
    }
    for name in ["server.", "nowhere"] {
        let error = servers.look_up(name).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{name}");
    }
}

#[test]
fn names_with_dots_are_first_tried_as_they_are() {
    let servers = asking(Vec::new());
    assert_eq!(servers.candidates("a"), ["a.lab.example", "a"]);
    assert_eq!(servers.candidates("a.b"), ["a.b", "a.b.lab.example"]);
    assert_eq!(servers.candidates("a.b."), ["a.b"]);
}

#[test]
fn what_is_no_answer_to_the_query_is_passed_over() {
    let server = serve(|query| {
        let mut other = known(query);
        other[0] ^= 1;
        let mut question = reply_to(query, RCODE::NoError);
        question.questions[0].qname = Name::new_unchecked("other.example");
        let no_reply = query.build_bytes_vec().unwrap();
        let garbage = b"garbage".to_vec();
        let question = question.build_bytes_vec().unwrap();
        vec![garbage, other, question, no_reply, known(query)]
    });
    assert_eq!(asking(vec![server]).look_up("server").unwrap(), both());
}

#[test]
fn another_server_is_asked_where_one_fails_or_is_silent() {
    let failing = serve(|query| {
        let reply = reply_to(query, RCODE::ServerFailure);
        vec![reply.build_bytes_vec().unwrap()]
    });
    let good = serve(|query| vec![known(query)]);
    assert_eq!(
        asking(vec![failing, good]).look_up("server").unwrap(),
        both()
    );
    let error = asking(vec![failing]).look_up("server").unwrap_err();
    assert_eq!(error.to_string(), "nameserver 127.0.0.1: ServerFailure");

    let quiet = serve(|_| Vec::new());
    let asking_shortly = |addresses| Servers {
        timeout: SHORT,
        ..asking(addresses)
    };
    let patient = Servers {
        attempts: 100,
        ..asking_shortly(vec![quiet, good])
    };
    assert_eq!(patient.look_up("server").unwrap(), both());
    let error = asking_shortly(vec![quiet]).look_up("server").unwrap_err();
    assert_eq!(error.to_string(), "nameserver 127.0.0.1: no answer");
}

/// A server whose answers are too long for UDP; by TCP `send` sends them, their length first.
fn serve_by_tcp(send: impl Fn(TcpStream, &[u8]) -> io::Result<()> + Send + 'static) -> SocketAddr {
    let server = serve(|query| {
        let mut reply = reply_to(query, RCODE::NoError);
        reply.set_flags(PacketFlag::TRUNCATION);
        vec![reply.build_bytes_vec().unwrap()]
    });
    let listener = TcpListener::bind(server).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            let mut query = vec![0; u16::from_be_bytes(length).into()];
            stream.read_exact(&mut query).unwrap();
            let reply = known(&Packet::parse(&query).unwrap());
            let length = (reply.len() as u16).to_be_bytes();
            // The client may leave before the end.
            let _ = send(stream, &[&length[..], &reply].concat());
        }
    });
    server
}

#[test]
fn a_long_answer_is_fetched_by_tcp() {
    let server = serve_by_tcp(|mut stream, reply| stream.write_all(reply));
    assert_eq!(asking(vec![server]).look_up("server").unwrap(), both());
}

#[test]
fn a_server_that_drips_its_answer_is_silent_where_that_takes_longer_than_the_timeout() {
    let server = serve_by_tcp(|mut stream, reply| {
        for byte in reply.chunks(1) {
            thread::sleep(SHORT / 5);
            stream.write_all(byte)?;
        }
        Ok(())
    });
    let servers = Servers {
        timeout: SHORT,
        ..asking(vec![server])
    };
    let error = servers.look_up("server").unwrap_err();
    assert_eq!(error.to_string(), "nameserver 127.0.0.1: no answer");
}

#[test]
fn names_that_dns_cannot_have_are_refused() {
    let servers = asking(vec![SocketAddr::from(([127, 0, 0, 1], 1))]);
    for name in ["x".repeat(64), "x.".repeat(200)] {
        let error = servers.look_up(&name).unwrap_err();
        assert_eq!(error.to_string(), "DNS has no such names", "{name}");
    }
}

#[test]
fn servers_are_those_of_the_file_or_one_on_this_host() {
    let text = "nameserver 10.0.0.1\nnonsense\nnameserver fd00::1\nnameserver 10.0.0.2\n\
                nameserver 10.0.0.3\nsearch a.example b.example\noptions ndots:2 timeout:3 attempts:4\n";
    let servers = Servers::of(text);
    let addresses: Vec<_> = servers
        .addresses
        .iter()
        .map(SocketAddr::to_string)
        .collect();
    assert_eq!(addresses, ["10.0.0.1:53", "[fd00::1]:53", "10.0.0.2:53"]);
    assert_eq!(servers.search, ["a.example", "b.example"]);
    assert_eq!(
        (servers.dots, servers.timeout, servers.attempts),
        (2, Duration::from_secs(3), 4)
    );
    let local = Servers::of("");
    assert!(
        local
            .addresses
            .iter()
            .all(|server| server.ip().is_loopback())
    );
    assert!(local.search.is_empty());
}

#[test]
fn a_server_of_a_link_keeps_its_interface() {
    let servers = Servers::of("nameserver fe80::1%7\nnameserver fe80::1%nowhere\n");
    let [address] = servers.addresses[..] else {
        panic!("{servers:?}")
    };
    assert_eq!(address.to_string(), "[fe80::1%7]:53");
}

#[test]
fn a_server_that_cannot_be_asked_leaves_the_others() {
    let good = serve(|query| vec![known(query)]);
    // Without its interface connect(2) refuses it with EINVAL.
    let servers = asking(vec!["[fe80::1]:53".parse().unwrap(), good]);
    assert_eq!(servers.look_up("server").unwrap(), both());
}

#[test]
fn a_domain_whose_server_fails_leaves_the_next() {
    let server = serve(|query| {
        let asked = query.questions.first().unwrap().qname.to_string();
        let failed = reply_to(query, RCODE::ServerFailure);
        match asked.ends_with("broken.example") {
            true => vec![failed.build_bytes_vec().unwrap()],
            false => vec![known(query)],
        }
    });
    let mut servers = asking(vec![server]);
    servers.search.insert(0, "broken.example".to_owned());
    assert_eq!(servers.look_up("server").unwrap(), both());
}

#[test]
fn a_timeout_and_attempts_have_the_bounds_of_the_c_library() {
    let of = |text| {
        let servers = Servers::of(text);
        (servers.timeout.as_secs(), servers.attempts)
    };
    assert_eq!(of("options timeout:0 attempts:0\n"), (1, 1));
    assert_eq!(of("options timeout:100 attempts:100\n"), (30, 5));
}
