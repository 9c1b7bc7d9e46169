use std::sync::Arc;

use mptcplab_controller::Event;

use super::*;
use crate::document::{
    Connection, Connections, Events, Host, Link, Numbered, Port, Rule, Rules, Subflow, Switch,
    Topology,
};
use crate::report::Report;
use crate::row::Row;

/// Text of a hostile switch.
const HOSTILE: &str = "\"></td><script>alert(1)</script>";

/// Three switches in a row, with text that is hostile wherever there can be some.
fn documents() -> Documents {
    let switch = |name: &str| Switch {
        switch: name.to_owned(),
        is_connected: name != "3",
        control_round_trip_ns: Some(1_500_000),
        ports: vec![Port {
            port: 1,
            name: HOSTILE.to_owned(),
            is_up: true,
            rate_bps: None,
            sent_bps: 0,
        }],
    };
    let link = |from: &str, to: &str, load_bps| Link {
        from: from.to_owned(),
        to: to.to_owned(),
        rate_bps: Some(10_000_000),
        delay_ns: Some(5_000_000),
        load_bps,
        subflows: 1,
    };
    let host = |host: &str, port: &str| Host {
        host: host.to_owned(),
        port: port.to_owned(),
    };
    let subflow = Subflow {
        subflow: HOSTILE.to_owned(),
        protocol: 6,
        rules: "active",
        path: vec![HOSTILE.to_owned()],
    };
    let rule = Rule {
        switch: HOSTILE.to_owned(),
        priority: 1000,
        in_port: 3,
        packets: HOSTILE.to_owned(),
        protocol: 6,
        out_port: 1,
        instead_port: Some(2),
        copies: true,
        idle_s: None,
        connection: 7,
    };
    Documents {
        topology: Topology {
            t_ns: 12_345_678_901,
            policy: "disjoint".to_owned(),
            is_complete: false,
            switches: ["1", "2", "3"].map(switch).into(),
            links: vec![
                link("1:1", "2:1", 9_000_000),
                link("2:1", "1:1", 2_000_000),
                link("2:2", "3:1", 0),
                link("3:1", "2:2", 0),
            ],
            hosts: vec![host("10.0.0.1", "1:3"), host(HOSTILE, "3:3")],
        },
        connections: Connections {
            t_ns: 0,
            total: 1,
            connections: vec![Connection {
                connection: 7,
                is_multipath: true,
                opened_ns: 1_000_000_000,
                expected_bytes: None,
                opener_token: Some(0xabc),
                other_token: None,
                subflows: vec![subflow],
            }],
        },
        rules: Rules {
            t_ns: 0,
            is_complete: true,
            rules: vec![rule],
        },
        events: Events {
            t_ns: 0,
            events: vec![Numbered {
                number: 0,
                row: Arc::new(Row::new(0, &Report::Event(Event::SwitchUp(1)))),
            }],
        },
        samples: Vec::new(),
    }
}

#[test]
fn text_of_switches_and_hosts_stays_text() {
    let page = render(&documents(), Some(2), false);
    assert!(!page.contains("<script"), "{page}");
    let shown = "&quot;&gt;&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;";
    // A port of each switch, a host in table and drawing, a subflow and its path, a rule's switch, in
    // words and in the identifier of its part, and its packets.
    assert_eq!(page.matches(shown).count(), 3 + 2 + 2 + 3);
}

#[test]
fn all_is_shown() {
    let page = render(&documents(), None, false);
    for text in [
        "<code>disjoint</code>",
        "12.345",
        "00000abc",
        "9.00 of 10.0",
        "switch 3 (gone)",
        "switch up",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // One direction of four is used for 90 %, one for 20 %.
    assert_eq!(page.matches("<path class=\"full\"").count(), 1);
    assert_eq!(page.matches("<path class=\"used\"").count(), 1);
    assert!(!page.contains("http-equiv"));
    assert!(
        render(&documents(), Some(2), false)
            .contains("<meta http-equiv=\"refresh\" content=\"2\">")
    );
}

/// A page that asks for nothing else and runs nothing, as its answer forbids it.
#[test]
fn the_page_stands_alone() {
    let page = render(&documents(), Some(2), false);
    let targets: Vec<&str> = page.split("href=\"").skip(1).collect();
    assert!(targets.iter().all(|target| target.starts_with('/')));
    let body = page.split("<body>").nth(1).expect("a body");
    let parts = [
        " src=",
        " style=",
        "url(",
        "@import",
        "<link",
        "<script",
        "javascript:",
    ];
    assert_eq!(parts.into_iter().find(|part| body.contains(part)), None);
}

#[test]
fn a_network_of_nothing_has_a_page() {
    let mut nothing = documents();
    nothing.topology.switches.clear();
    nothing.topology.links.clear();
    nothing.connections.connections.clear();
    let page = render(&nothing, None, false);
    assert!(page.contains("No switch has connected yet."));
    assert!(page.contains("None."));
}

/// With charts the page loads their parts from the server alone, has a place for them, and is loaded
/// again only where no script runs.
#[test]
fn a_page_with_charts_asks_for_their_parts_alone() {
    let page = render(&documents(), Some(2), true);
    let loaded: Vec<&str> = page.split(" src=\"").skip(1).collect();
    assert!(matches!(&loaded[..], [script] if script.starts_with("/page.js\"></script>")));
    let linked = page.split("<link ").nth(1).expect("a style sheet");
    assert!(linked.starts_with("rel=\"stylesheet\" href=\"/page.css\">"));
    assert!(page.contains("<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>"));
    assert!(page.contains("<section id=\"courses\" data-follows></section>"));
    let still = render(&documents(), None, true);
    assert!(still.contains("<section id=\"courses\"></section>"));
    assert!(!still.contains("http-equiv"));
    let body = page.split("<body>").nth(1).expect("a body");
    assert!(!body.contains("<script"));
}
