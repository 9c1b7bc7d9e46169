//! The documents of the API, and its page.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http_peer::{ask, ask_raw, document, with_http};
use crate::network::Network;
use crate::serving::Serving;
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
