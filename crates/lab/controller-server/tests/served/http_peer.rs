//! A peer of the API.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use mptcplab_controller_server::{Config, HttpConfig, HttpLimits};
use serde_json::Value;

use crate::serving::{PATIENCE, Serving, config};

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A server on the loopback with the API.
pub(crate) fn with_http() -> Config {
    Config {
        http: Some(http()),
        ..config()
    }
}

pub(crate) fn http() -> HttpConfig {
    HttpConfig {
        listen: "127.0.0.1:0".parse().expect("an address"),
        tls: None,
        token: None,
        charts: None,
        limits: HttpLimits::default(),
    }
}

/// The address of the API.
pub(crate) fn address(serving: &Serving) -> SocketAddr {
    serving.wait("listening_http", 1, || {});
    let lines = serving.lines();
    let line = lines.iter().find(|line| line.starts_with("listening_http"));
    let words = line.expect("waited for").split([' ', '=']);
    words
        .filter_map(|word| word.parse().ok())
        .next()
        .expect("an address")
}

/// A connection to the API.
pub(crate) fn connect(serving: &Serving) -> TcpStream {
    let stream = TcpStream::connect(address(serving)).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}

/// The answer that a stream has until its end; `None`: it ends without one.
pub(crate) fn answer(stream: &mut impl Read) -> Option<Answer> {
    let mut bytes = Vec::new();
    // A connection that the server gives up may end by a reset.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).expect("text");
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    Some(Answer {
        status: status.expect("a status"),
        head: head.to_owned(),
        body: body.to_owned(),
    })
}

/// The answer to bytes.
pub(crate) fn ask_raw(serving: &Serving, request: &[u8]) -> Option<Answer> {
    let mut stream = connect(serving);
    // The server may have answered before all is written.
    let _ = stream.write_all(request);
    answer(&mut stream)
}

/// The answer to a GET with fields.
pub(crate) fn ask(serving: &Serving, path: &str, fields: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
    ask_raw(serving, request.as_bytes()).expect("an answer")
}

/// A document.
pub(crate) fn document(serving: &Serving, path: &str) -> Value {
    let answer = ask(serving, path, "");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.contains("Content-Type: application/json"));
    serde_json::from_str(&answer.body).expect("JSON")
}
