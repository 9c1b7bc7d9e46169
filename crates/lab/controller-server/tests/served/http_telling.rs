//! Sizes of transfers that applications tell.

use std::fs;

use mptcplab_controller_server::{Config, HttpConfig};
use tempfile::TempDir;

use crate::http_peer::{Answer, ask, ask_raw, document, http, with_http};
use crate::network::Network;
use crate::serving::{Serving, config};
use crate::switches::connect_hosts;

const TOKEN: &str = "0123456789abcdef";
const SIZE: &str = r#"{"server":"10.0.0.2:80","bytes":500000}"#;

/// A server with a token, and the folder of its file.
fn with_token() -> (Serving, TempDir) {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("token");
    fs::write(&file, TOKEN).expect("written");
    let token = Some(file);
    let http = Some(HttpConfig { token, ..http() });
    (Serving::start(&Config { http, ..config() }), folder)
}

fn tell(serving: &Serving, path: &str, fields: &str, content: &str) -> Answer {
    let length = content.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{fields}\r\n{content}"
    );
    ask_raw(serving, request.as_bytes()).expect("an answer")
}

fn bearer() -> String {
    format!("Authorization: Bearer {TOKEN}\r\n")
}

#[test]
fn a_size_counts_for_the_next_connection() {
    let (serving, _folder) = with_token();
    let told = tell(&serving, "/api/v1/sizes", &bearer(), SIZE);
    assert_eq!((told.status, told.body.as_str()), (200, SIZE));
    let mut network = Network::new();
    (1..=3).for_each(|datapath| network.connect(datapath, &serving, None));
    connect_hosts(&mut network, &serving);
    let answer = ask(&serving, "/api/v1/connections", &bearer());
    assert!(
        answer.body.contains("\"expected_bytes\":500000"),
        "{answer:?}"
    );
    serving.end();
}

/// A browser sends a password again wherever a page of another site makes it send a request.
#[test]
fn a_size_is_told_by_a_bearer_of_the_token_alone() {
    let (serving, _folder) = with_token();
    let password = "Authorization: Basic OjAxMjM0NTY3ODlhYmNkZWY=\r\n";
    assert_eq!(ask(&serving, "/", password).status, 200);
    let status = |fields: &str| tell(&serving, "/api/v1/sizes", fields, SIZE).status;
    assert_eq!(status(password), 403);
    assert_eq!(status("Authorization: Bearer 0123456789abcdee\r\n"), 401);
    assert_eq!(status(""), 401);
    serving.end();
    let open = Serving::start(&with_http());
    assert_eq!(tell(&open, "/api/v1/sizes", &bearer(), SIZE).status, 403);
    assert_eq!(document(&open, "/api/v1/connections")["total"], 0);
    open.end();
}

#[test]
fn only_sizes_are_told_and_not_too_many() {
    let (serving, _folder) = with_token();
    let status = |path: &str, content: &str| tell(&serving, path, &bearer(), content).status;
    for path in ["/", "/api/v1/topology", "/api/v1/rules", "/api/v1/sizes/"] {
        assert_eq!(status(path, SIZE), 405, "{path}");
    }
    let wrong = [
        "",
        "{}",
        "[]",
        r#"{"server":"example.com:80","bytes":1}"#,
        r#"{"server":"10.0.0.2:80","bytes":-1}"#,
        r#"{"server":"10.0.0.2:80","bytes":1,"more":1}"#,
    ];
    for content in wrong {
        assert_eq!(status("/api/v1/sizes", content), 400, "{content}");
    }
    assert_eq!(status("/api/v1/sizes", &"a".repeat(1025)), 413);
    let reading = ask(&serving, "/api/v1/sizes", &bearer());
    assert_eq!(reading.status, 405);
    assert!(reading.head.contains("Allow: POST"));
    for port in 1..=1024 {
        let size = format!("{{\"server\":\"10.0.0.2:{port}\",\"bytes\":1}}");
        assert_eq!(status("/api/v1/sizes", &size), 200);
    }
    let more = r#"{"server":"10.0.0.3:80","bytes":1}"#;
    assert_eq!(status("/api/v1/sizes", more), 507);
    assert_eq!(status("/api/v1/sizes", SIZE), 200);
    serving.end();
}
