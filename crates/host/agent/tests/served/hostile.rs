//! Servers that are slow, or send without end.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Mutex;
use std::thread;

use mptcplab_agent::enrolment::Server;
use mptcplab_agent::http::{Client, Request};
use serde_json::json;

use crate::server::{Running, answer};

fn request() -> Request<'static> {
    Request {
        method: "GET",
        path: "/api/v1/agent/plans",
        secret: "s",
        headers: Vec::new(),
        body: None,
    }
}

/// The failure of a request that is stopped after so many questions whether to go on.
fn failure(server: &Server, questions: u32) -> String {
    let mut client = Client::new(server).unwrap();
    let mut asked = 0;
    let done = client.send(&request(), &mut || {
        asked += 1;
        asked < questions
    });
    done.unwrap_err().to_string()
}

#[test]
fn a_body_or_a_head_without_end_is_refused() {
    for head in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: ",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1fffff\r\n",
    ] {
        let running = Running::start(move |_| {
            let mut endless = head.as_bytes().to_vec();
            endless.resize(8 << 20, b'a');
            Some(endless)
        });
        let told = failure(&running.server(), u32::MAX);
        let expected = [
            "the server's answer is too large",
            "the server's answer is no HTTP",
        ];
        assert!(
            expected.iter().any(|end| told.ends_with(end)),
            "{head}: {told}"
        );
    }
}

#[test]
fn an_answer_that_is_none_or_does_not_end_is_told() {
    let of_http = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc";
    for (bytes, expected, questions) in [
        ("SSH-2.0-x\r\n\r\n", "no HTTP", u32::MAX),
        (of_http, "no answer in time", 20),
        ("HTTP/1.1 200", "no answer in time", 20),
    ] {
        let running = Running::start(move |_| Some(bytes.as_bytes().to_vec()));
        let told = failure(&running.server(), questions);
        assert!(told.contains(expected), "{told}");
    }
    let closing = Running::start(|_| None);
    failure(&closing.server(), u32::MAX);
}

#[test]
fn a_port_that_says_nothing_or_no_tls_is_no_server() {
    let mut server = Running::start(|_| None).server();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    server.url = format!("https://{}", silent.local_addr().unwrap());
    let told = failure(&server, 4);
    assert!(told.contains("no answer in time"), "{told}");

    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    server.url = format!("https://{}", plain.local_addr().unwrap());
    let answering = thread::spawn(move || {
        let (mut stream, _) = plain.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        stream
    });
    failure(&server, u32::MAX);
    answering.join().unwrap();
}

#[test]
fn a_connection_carries_further_requests_until_the_server_closes_it() {
    let count = Mutex::new(0);
    let closing = Running::start(move |_| {
        let mut count = count.lock().unwrap();
        *count += 1;
        match *count % 3 {
            2 => None,
            _ => answer(200, &json!({})),
        }
    });
    let mut client = Client::new(&closing.server()).unwrap();
    for _ in 0..4 {
        let answer = client.send(&request(), &mut || true).unwrap();
        assert_eq!(answer.status, 200);
    }
}
