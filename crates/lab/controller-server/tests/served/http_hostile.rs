//! Hostile peers of the API: they get an answer or an end, and others are served as before.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use mptcplab_controller_server::{Config, HttpConfig, HttpLimits};

use crate::http_peer::{answer, ask, ask_raw, connect, http, with_http};
use crate::network::Network;
use crate::serving::{PATIENCE, Serving, config};

const REQUEST: &[u8] = b"GET /api/v1/topology HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";

fn limited(limits: HttpLimits) -> Serving {
    let http = Some(HttpConfig { limits, ..http() });
    Serving::start(&Config { http, ..config() })
}

/// Numbers that are the same in each run (D. E. Knuth, MMIX).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

#[test]
fn requests_of_any_bytes_do_no_harm() {
    let serving = Serving::start(&with_http());
    let mut network = Network::new();
    network.connect(1, &serving, None);
    serving.wait("switch_up", 1, || network.turn());
    let mut numbers = Numbers(1);
    for _ in 0..300 {
        let mut request = REQUEST.to_vec();
        for _ in 0..1 + numbers.below(6) {
            let place = numbers.below(request.len());
            match numbers.below(4) {
                0 => request[place] = numbers.below(256) as u8,
                1 => request.truncate(place + 1),
                2 => request.insert(place, b"\r\n\0 :/%"[numbers.below(7)]),
                _ => request.extend_from_within(place..),
            }
        }
        let mut stream = connect(&serving);
        stream.write_all(&request).expect("written");
        // A request that is cut is over when its peer says so.
        stream
            .shutdown(std::net::Shutdown::Write)
            .expect("shut down");
        if let Some(answer) = answer(&mut stream) {
            assert!([200, 400, 403, 404, 405, 413, 431, 505].contains(&answer.status));
        }
        network.turn();
    }
    assert_eq!(ask(&serving, "/api/v1/topology", "").status, 200);
    assert_eq!(serving.count("switch_down"), 0);
    serving.end();
}

#[test]
fn long_requests_and_requests_with_content_are_refused() {
    let serving = Serving::start(&with_http());
    let status = |request: String| ask_raw(&serving, request.as_bytes()).map(|found| found.status);
    let long = "a".repeat(20_000);
    assert_eq!(status(format!("GET /{long}")), Some(431));
    assert_eq!(
        status(format!("GET / HTTP/1.1\r\nHost: localhost\r\nA: {long}")),
        Some(431)
    );
    let many = "a: b\r\n".repeat(100);
    assert_eq!(
        status(format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n")),
        Some(431)
    );
    let content = "Host: localhost\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(status(format!("GET / HTTP/1.1\r\n{content}")), Some(413));
    assert_eq!(
        status("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n".to_owned()),
        Some(505)
    );
    assert_eq!(
        status("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        Some(505)
    );
    serving.end();
}

/// A byte at a time does not make a request take longer.
#[test]
fn a_slow_request_ends_in_time() {
    let limits = HttpLimits {
        request_ms: 200,
        ..HttpLimits::default()
    };
    let serving = limited(limits);
    let begun = Instant::now();
    let mut slow = connect(&serving);
    slow.set_read_timeout(Some(Duration::from_millis(10)))
        .expect("set");
    for byte in REQUEST.iter().cycle().filter(|byte| **byte != b'\n') {
        let mut buffer = [0; 1];
        if slow.write_all(&[*byte]).is_err() || matches!(slow.read(&mut buffer), Ok(0)) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it goes on");
    }
    assert!(begun.elapsed() >= Duration::from_millis(200));
    assert_eq!(ask(&serving, "/", "").status, 200);
    serving.end();
}

#[test]
fn many_silent_peers_keep_no_other_out() {
    let limits = HttpLimits {
        peers: 4,
        ..HttpLimits::default()
    };
    let serving = limited(limits);
    let mut silent: Vec<TcpStream> = (0..50).map(|_| connect(&serving)).collect();
    assert_eq!(ask(&serving, "/", "").status, 200);
    // The oldest made room.
    let mut buffer = [0; 1];
    assert!(matches!(silent[0].read(&mut buffer), Ok(0) | Err(_)));
    drop(silent);
    serving.end();
}

#[test]
fn a_peer_that_does_not_read_its_answer_is_disconnected() {
    let limits = HttpLimits {
        peers: 1000,
        answer_ms: 100,
        ..HttpLimits::default()
    };
    let serving = limited(limits);
    let mut network = Network::of(200);
    (1..=200).for_each(|datapath| network.connect(datapath, &serving, None));
    serving.wait("switch_up", 200, || network.turn());
    // Requests without number on one connection: the first one is answered.
    let mut greedy = connect(&serving);
    greedy.write_all(&REQUEST.repeat(100)).expect("written");
    let first = answer(&mut greedy).expect("an answer");
    assert_eq!(first.status, 200);
    assert_eq!(first.body.matches("\"policy\"").count(), 1);
    let unread: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = connect(&serving);
            stream.write_all(REQUEST).expect("written");
            stream
        })
        .collect();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(300) {
        network.turn();
    }
    assert_eq!(ask(&serving, "/api/v1/topology", "").status, 200);
    assert_eq!(serving.count("switch_down"), 0);
    drop(unread);
    serving.end();
}
