//! Conditions on readers: TLS and a token, names of the loopback, paths and methods.

use std::fs;
use std::io::Write;

use mptcplab_controller_server::{Config, HttpConfig, Server};
use rustls::StreamOwned;

use crate::certificates::Authority;
use crate::http_peer::{answer, ask, ask_raw, connect, http, with_http};
use crate::serving::{Serving, config};

const TOKEN: &str = "a token of the tests";

fn refused(http: HttpConfig) -> String {
    let http = Some(http);
    match Server::bind(&Config { http, ..config() }) {
        Ok(_) => panic!("it starts"),
        Err(error) => error.to_string(),
    }
}

/// An authority, with a file of a token beside its files.
fn with_token() -> (Authority, std::path::PathBuf) {
    let authority = Authority::new();
    let file = authority.file("token");
    fs::write(&file, format!("{}\n", TOKEN.replace(' ', "-"))).expect("written");
    (authority, file)
}

#[test]
fn beyond_the_loopback_it_takes_tls_and_a_token() {
    let (authority, token) = with_token();
    for listen in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"] {
        let listen = listen.parse().expect("an address");
        let beyond = HttpConfig { listen, ..http() };
        let with_tls = HttpConfig {
            tls: Some(authority.http()),
            ..beyond.clone()
        };
        let with_token = HttpConfig {
            token: Some(token.clone()),
            ..beyond.clone()
        };
        for less in [beyond, with_tls.clone(), with_token.clone()] {
            let error = refused(less);
            assert!(
                error.contains("is beyond the loopback: give --http-cert"),
                "{error}"
            );
        }
        let http = Some(HttpConfig {
            tls: with_tls.tls,
            ..with_token
        });
        assert!(Server::bind(&Config { http, ..config() }).is_ok());
    }
}

#[test]
fn files_that_hold_no_token_are_told() {
    let authority = Authority::new();
    for text in [
        "",
        "short",
        "two words of a token",
        "ein Schlüssel-von-Wörtern",
        &"a".repeat(1025),
    ] {
        let file = authority.file("token");
        fs::write(&file, text).expect("written");
        let token = Some(file);
        let error = refused(HttpConfig { token, ..http() });
        assert!(
            error.contains("token: holds no token: write 16 to 1024 letters"),
            "{error}"
        );
    }
    let token = Some(authority.file("absent"));
    assert!(refused(HttpConfig { token, ..http() }).contains("absent: cannot be read: "));
}

#[test]
fn by_tls_only_requests_with_the_token_are_answered() {
    let (authority, token) = with_token();
    let serving = Serving::start(&Config {
        http: Some(HttpConfig {
            tls: Some(authority.http()),
            token: Some(token),
            ..http()
        }),
        ..config()
    });
    let ask = |fields: &str| {
        let mut stream = StreamOwned::new(authority.client(None), connect(&serving));
        let request = format!("GET /api/v1/topology HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
        stream.write_all(request.as_bytes()).expect("written");
        answer(&mut stream).expect("an answer")
    };
    let without = ask("");
    assert_eq!(without.status, 401);
    assert!(without.head.contains("WWW-Authenticate: Basic realm="));
    assert!(!without.body.contains("switches"));
    assert_eq!(
        ask("Authorization: Bearer another-token-that-is-wrong\r\n").status,
        401
    );
    let with = ask(&format!(
        "Authorization: Bearer {}\r\n",
        TOKEN.replace(' ', "-")
    ));
    assert_eq!(with.status, 200);
    assert!(with.body.contains("switches"));
    // HTTP without TLS.
    assert!(ask_raw(&serving, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").is_none());
    serving.end();
}

#[test]
fn on_the_loopback_other_names_are_refused() {
    let serving = Serving::start(&with_http());
    let status = |host: &str| {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let answer = ask_raw(&serving, request.as_bytes());
        answer.expect("an answer").status
    };
    assert_eq!(status("127.0.0.1:8080"), 200);
    assert_eq!(status("[::1]:8080"), 200);
    for other in [
        "rebound.example.com:8080",
        "localhost.example.com",
        "192.0.2.1",
        "",
    ] {
        assert_eq!(status(other), 403, "{other}");
    }
    let without = ask_raw(&serving, b"GET / HTTP/1.1\r\n\r\n");
    assert_eq!(without.expect("an answer").status, 400);
    serving.end();
}

#[test]
fn there_are_no_other_documents_and_nothing_is_changed() {
    let serving = Serving::start(&with_http());
    let paths = [
        "/../etc/passwd",
        "/api/v1/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/rules/..%2f..%2fetc%2fpasswd",
        "/api/v1/rules/",
        "/api/v1/rules/ffffffffffffffff",
        "/api/v1/topology/",
        "/api/v1/topology?since=1",
        "/api/v2/topology",
        "//",
        "http://localhost/",
        "*",
    ];
    for path in paths {
        assert_eq!(ask(&serving, path, "").status, 404, "{path}");
    }
    for method in [
        "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get",
    ] {
        let request = format!("{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let answer = ask_raw(&serving, request.as_bytes()).expect("an answer");
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.head.contains("Allow: GET, HEAD"));
    }
    serving.end();
}
