//! The documents of the API, and its page.

use std::thread::sleep;
use std::time::{Duration, Instant};

use mptcplab_controller_server::{Config, HttpConfig, PageParts};
use serde_json::{Value, json};

use crate::http_peer::{ask, ask_raw, document, http, with_http};
use crate::network::Network;
use crate::serving::{PATIENCE, Serving, config};
use crate::switches::connect_hosts;

/// A triangle of switches with a connection of two subflows.
fn served() -> (Serving, Network) {
    let serving = Serving::start(&with_http());
    let mut network = Network::new();
    (1..=3).for_each(|datapath| network.connect(datapath, &serving, None));
    connect_hosts(&mut network, &serving);
    // A copy that was made before is no longer shown.
    sleep(Duration::from_millis(600));
    (serving, network)
}

fn list<'a>(document: &'a Value, key: &str) -> &'a Vec<Value> {
    document[key].as_array().expect("a list")
}

#[test]
fn the_network_connections_and_rules_are_told() {
    let (serving, network) = served();
    let topology = document(&serving, "/api/v1/topology");
    assert_eq!(topology["policy"], "disjoint");
    assert_eq!(topology["is_complete"], true);
    assert_eq!(list(&topology, "switches").len(), 3);
    assert_eq!(topology["switches"][0]["switch"], "0000000000000001");
    assert_eq!(topology["switches"][0]["is_connected"], true);
    assert_eq!(list(&topology["switches"][0], "ports").len(), 4);
    let links = list(&topology, "links");
    let between = |from: &str, to: &str| {
        let is_it = |link: &&Value| link["from"] == from && link["to"] == to;
        links.iter().find(is_it).expect("a link").clone()
    };
    assert_eq!(links.len(), 6);
    let direct = between("0000000000000001:1", "0000000000000003:1");
    assert_eq!(direct["subflows"], 1);
    let back = between("0000000000000003:1", "0000000000000001:1");
    assert_eq!(back["subflows"], 0);
    let host = json!({"host": "10.0.0.1", "port": "0000000000000001:3"});
    assert!(list(&topology, "hosts").contains(&host));

    let connections = document(&serving, "/api/v1/connections");
    assert_eq!(connections["total"], 1);
    let connection = &connections["connections"][0];
    assert_eq!(connection["is_multipath"], true);
    let token = mptcplab_wire::keys::Key(network.hosts[1].key).token();
    assert_eq!(connection["other_token"], token);
    let second = json!({
        "subflow": "10.0.1.1:1000-10.0.1.2:80",
        "protocol": 6,
        "rules": "active",
        "path": [
            "0000000000000001:2-0000000000000002:1",
            "0000000000000002:2-0000000000000003:2",
        ],
    });
    assert_eq!(connection["subflows"][1], second);

    let rules = document(&serving, "/api/v1/rules/0000000000000002");
    // The second subflow's, and the first one's way round its link, in both directions.
    let own = list(&rules, "rules");
    assert_eq!(own.len(), 4, "{own:#?}");
    assert!(own.iter().all(|rule| rule["switch"] == "0000000000000002"));
    assert_eq!(own.iter().filter(|rule| rule["idle_s"] == 10).count(), 2);
    let all = document(&serving, "/api/v1/rules");
    assert!(list(&all, "rules").len() > own.len());
    serving.end();
}

#[test]
fn the_last_events_are_told_as_lines_tell_them() {
    let (serving, _network) = served();
    let events = document(&serving, "/api/v1/events");
    let events = list(&events, "events");
    assert_eq!(events[0]["event"], "listening");
    let numbers: Vec<u64> = events
        .iter()
        .filter_map(|event| event["number"].as_u64())
        .collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<u64>>());
    let placed = events.iter().filter(|event| event["event"] == "placed");
    assert_eq!(placed.count(), serving.count("placed"));
    serving.end();
}

#[test]
fn the_page_has_all_of_it() {
    let (serving, _network) = served();
    let page = ask(&serving, "/", "");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("Content-Type: text/html; charset=utf-8"));
    assert!(
        page.head
            .contains("Content-Security-Policy: default-src 'none'; style-src 'sha256-")
    );
    assert!(page.body.ends_with("</html>\n"));
    let length = format!("Content-Length: {}\r\n", page.body.len());
    assert!(page.head.contains(&length));
    for text in ["10.0.1.1:1000-10.0.1.2:80", "switch 2", "MPTCP", "placed"] {
        assert!(page.body.contains(text), "{text}");
    }
    let live = ask(&serving, "/live", "");
    assert!(live.body.contains("<meta http-equiv=\"refresh\""));
    serving.end();
}

#[test]
fn a_head_is_the_head_of_a_get() {
    let (serving, _network) = served();
    let request = |method: &str| {
        let request = format!("{method} /api/v1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
        ask_raw(&serving, request.as_bytes()).expect("an answer")
    };
    let (head, get) = (request("HEAD"), request("GET"));
    assert_eq!(head.head, get.head);
    assert_eq!(head.body, "");
    assert!(get.body.contains("/api/v1/topology"));
    serving.end();
}

#[test]
fn the_last_minutes_have_a_sample_a_second() {
    let (serving, _network) = served();
    let begun = Instant::now();
    let history = loop {
        let history = document(&serving, "/api/v1/history");
        let paths = list(&history, "paths");
        if paths.len() == 2 && list(&history, "times_ns").len() > 1 {
            break history;
        }
        assert!(begun.elapsed() < PATIENCE, "{history:#}");
        sleep(Duration::from_millis(100));
    };
    let times: Vec<u64> = list(&history, "times_ns")
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    let second = 1_000_000_000;
    assert!(times.windows(2).all(|two| two[1] - two[0] >= second));
    let links = list(&history, "links");
    assert_eq!(links.len(), 6);
    assert!(
        links
            .iter()
            .all(|link| list(link, "load_bps").len() == times.len())
    );
    let direct = json!(["0000000000000001:1-0000000000000003:1"]);
    let around = json!([
        "0000000000000001:2-0000000000000002:1",
        "0000000000000002:2-0000000000000003:2",
    ]);
    let paths = list(&history, "paths");
    for path in [direct, around] {
        let own = paths.iter().find(|own| own["path"] == path);
        let subflows = list(own.expect("a path"), "subflows");
        assert_eq!(subflows.len(), times.len());
        assert_eq!(subflows.last(), Some(&json!(1)));
    }
    serving.end();
}

#[test]
fn a_page_with_charts_has_their_script_and_style_and_may_run_that_alone() {
    let charts = Some(PageParts {
        script: "let own;".to_owned(),
        style: "b { color: red; }".to_owned(),
    });
    let http = Some(HttpConfig { charts, ..http() });
    let serving = Serving::start(&Config { http, ..config() });
    let page = ask(&serving, "/", "");
    assert!(page.body.contains("<script src=\"/page.js\"></script>"));
    let allowed = " 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'";
    assert!(page.head.contains(allowed), "{}", page.head);
    let script = ask(&serving, "/page.js", "");
    assert!(script.head.contains("Content-Type: text/javascript"));
    assert_eq!(script.body, "let own;");
    let style = ask(&serving, "/page.css", "");
    assert!(style.head.contains("Content-Type: text/css"));
    assert_eq!(style.body, "b { color: red; }");
    serving.end();
}

#[test]
fn a_page_without_charts_may_run_nothing() {
    let serving = Serving::start(&with_http());
    let page = ask(&serving, "/", "");
    assert!(!page.body.contains("<script"));
    assert!(!page.head.contains("script-src"));
    assert_eq!(ask(&serving, "/page.js", "").status, 404);
    serving.end();
}
