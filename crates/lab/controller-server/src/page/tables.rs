//! The tables of the page.

use std::collections::BTreeMap;

use super::html::Html;
use super::numbers::{megabits, milliseconds, percent, seconds, whole};
use crate::document::{Connection, Documents, Numbered, Rule, Rules, Subflow, Switch, Topology};
use crate::names;

/// Fields of events that name switches, ports and links.
const NAMES: [&str; 4] = ["switch", "port", "link", "path"];

/// Rows of a table of the page; the API has more.
const ROWS: usize = 500;

/// The cells of a row.
struct Row {
    /// The identifier of its element; none where nothing leads to it.
    id: Option<String>,
    cells: Vec<String>,
}

impl From<Vec<String>> for Row {
    fn from(cells: Vec<String>) -> Self {
        Self { id: None, cells }
    }
}

/// A column: its head, and whether its cells are numbers.
type Column = (&'static str, bool);

const SWITCHES: &[Column] = &[
    ("switch", false),
    ("state", false),
    ("control, ms", true),
    ("ports", true),
];
const LINKS: &[Column] = &[
    ("from", false),
    ("to", false),
    ("rate, Mbit/s", true),
    ("load, Mbit/s", true),
    ("load, %", true),
    ("delay, ms", true),
    ("subflows", true),
];
const HOSTS: &[Column] = &[("host", false), ("port", false)];
const PORTS: &[Column] = &[
    ("port", false),
    ("name", false),
    ("state", false),
    ("rate, Mbit/s", true),
    ("sent, Mbit/s", true),
];
const CONNECTIONS: &[Column] = &[
    ("connection", true),
    ("subflow", false),
    ("kind", false),
    ("opened, s", true),
    ("expected, bytes", true),
    ("tokens", false),
    ("rules", false),
    ("path", false),
];
const EVENTS: &[Column] = &[("time, s", true), ("event", false), ("of", false)];
const RULES: &[Column] = &[
    ("priority", true),
    ("in port", true),
    ("packets", false),
    ("protocol", true),
    ("out port", true),
    ("instead", true),
    ("copies", false),
    ("idle, s", true),
    ("connection", true),
];

/// Writes all tables.
pub(super) fn write(html: &mut Html, documents: &Documents) {
    let topology = &documents.topology;
    if !topology.is_complete {
        html.raw("<p>There are more switches, links or hosts than are shown.</p>\n");
    }
    begin(html, "Links");
    html.raw(
        "<p class=\"soft\">Each direction by itself: the ports of switches, by their datapaths \
              without the zeros that these begin with, and their numbers.</p>\n",
    );
    table(
        html,
        "Links",
        LINKS,
        topology.links.iter().map(|link| {
            vec![
                names::short(&link.from),
                names::short(&link.to),
                megabits(link.rate_bps),
                megabits(Some(link.load_bps)),
                percent(link.load_bps, link.rate_bps),
                milliseconds(link.delay_ns),
                link.subflows.to_string(),
            ]
        }),
    );
    end(html);
    write_connections(html, documents);
    begin(html, "Events");
    html.raw("<p class=\"soft\">The last one first.</p>\n");
    let events = documents.events.events.iter().rev();
    table(html, "Events", EVENTS, events.map(event));
    end(html);
    begin(html, "Switches");
    let switches = topology.switches.iter();
    table(html, "Switches", SWITCHES, switches.map(switch));
    end(html);
    begin(html, "Hosts");
    let hosts = topology.hosts.iter();
    let hosts = hosts.map(|host| vec![host.host.clone(), names::short(&host.port)]);
    table(html, "Hosts", HOSTS, hosts);
    end(html);
    write_ports(html, topology);
    write_rules(html, &documents.rules);
}

fn write_connections(html: &mut Html, documents: &Documents) {
    let connections = &documents.connections;
    begin(html, "Connections");
    html.raw("<p class=\"soft\">The last one first, with its subflows. Remembered: ")
        .text(connections.total)
        .raw(".</p>\n");
    let rows = connections.connections.iter().flat_map(|connection| {
        let subflows = connection.subflows.iter().enumerate();
        subflows.map(|(index, subflow)| of_subflow(connection, subflow, index == 0))
    });
    table(html, "Connections", CONNECTIONS, rows);
    end(html);
}

/// The row of a subflow; the first one's has what belongs to the connection.
fn of_subflow(connection: &Connection, subflow: &Subflow, is_first: bool) -> Vec<String> {
    let kind = match (connection.is_multipath, subflow.protocol) {
        (true, _) => "MPTCP".to_owned(),
        (false, 6) => "TCP".to_owned(),
        (false, other) => format!("protocol {other}"),
    };
    let token = |token: Option<u32>| whole(token.map(|token| format!("{token:08x}")));
    let tokens = [connection.opener_token, connection.other_token].map(token);
    let path = match subflow.path.is_empty() {
        true => "the switch of both".to_owned(),
        false => {
            let links = subflow.path.iter().map(|link| names::short(link));
            links.collect::<Vec<String>>().join(", ")
        }
    };
    let once = |text: String| if is_first { text } else { String::new() };
    vec![
        connection.connection.to_string(),
        subflow.subflow.clone(),
        once(kind),
        once(seconds(connection.opened_ns)),
        once(whole(connection.expected_bytes)),
        once(tokens.join(" ")),
        subflow.rules.to_owned(),
        path,
    ]
}

fn event(event: &Numbered) -> Row {
    let fields = event.row.fields.iter();
    let fields: Vec<String> = fields
        .map(|(key, value)| match NAMES.contains(key) {
            true => format!("{key} {}", names::short(&value.to_string())),
            false => format!("{key} {value}"),
        })
        .collect();
    Row {
        id: Some(format!("event-{}", event.number)),
        cells: vec![
            seconds(event.row.t_ns),
            event.row.event.replace('_', " "),
            fields.join(", "),
        ],
    }
}

fn switch(switch: &Switch) -> Vec<String> {
    let state = if switch.is_connected {
        "connected"
    } else {
        "gone"
    };
    vec![
        names::short(&switch.switch),
        state.to_owned(),
        milliseconds(switch.control_round_trip_ns),
        switch.ports.len().to_string(),
    ]
}

fn write_ports(html: &mut Html, topology: &Topology) {
    begin(html, "Ports");
    for switch in &topology.switches {
        begin_details(html, "ports", &switch.switch, switch.ports.len());
        table(
            html,
            "Ports",
            PORTS,
            switch.ports.iter().map(|port| {
                vec![
                    port.port.to_string(),
                    port.name.clone(),
                    if port.is_up { "up" } else { "down" }.to_owned(),
                    megabits(port.rate_bps),
                    megabits(Some(port.sent_bps)),
                ]
            }),
        );
        html.raw("</details>\n");
    }
    end(html);
}

fn write_rules(html: &mut Html, rules: &Rules) {
    begin(html, "Rules");
    html.raw("<p class=\"soft\">Those of subflows");
    if !rules.is_complete {
        html.raw("; there are more than are shown");
    }
    html.raw(".</p>\n");
    let mut by_switch: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
    for rule in rules.rules.iter().take(ROWS) {
        by_switch.entry(&rule.switch).or_default().push(rule);
    }
    for (switch, rules) in by_switch {
        begin_details(html, "rules", switch, rules.len());
        table(
            html,
            "Rules",
            RULES,
            rules.into_iter().map(|rule| {
                vec![
                    rule.priority.to_string(),
                    rule.in_port.to_string(),
                    rule.packets.clone(),
                    rule.protocol.to_string(),
                    rule.out_port.to_string(),
                    whole(rule.instead_port),
                    if rule.copies { "to the controller" } else { "" }.to_owned(),
                    whole(rule.idle_s),
                    rule.connection.to_string(),
                ]
            }),
        );
        html.raw("</details>\n");
    }
    end(html);
}

/// Begins a section, which the page's script replaces as a whole where it follows the controller.
fn begin(html: &mut Html, title: &'static str) {
    html.raw("<section data-part=\"")
        .raw(title)
        .raw("\">\n<h2>")
        .raw(title)
        .raw("</h2>\n");
}

fn end(html: &mut Html) {
    html.raw("</section>\n");
}

fn begin_details(html: &mut Html, of: &'static str, switch: &str, rows: usize) {
    html.raw("<details id=\"")
        .raw(of)
        .raw("-")
        .text(switch)
        .raw("\"><summary>switch ")
        .text(names::short(switch))
        .raw(": ")
        .text(rows)
        .raw("</summary>\n");
}

/// A table. On a narrow screen each row is a list, for which cells have their column's head.
fn table(
    html: &mut Html,
    label: &'static str,
    columns: &[Column],
    rows: impl Iterator<Item = impl Into<Row>>,
) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        html.raw("<p class=\"soft\">None.</p>\n");
        return;
    }
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"")
        .raw(label)
        .raw("\"><table>\n<thead><tr>");
    for (head, is_number) in columns {
        html.raw(if *is_number {
            "<th class=\"number\">"
        } else {
            "<th>"
        })
        .text(head)
        .raw("</th>");
    }
    html.raw("</tr></thead>\n<tbody>\n");
    for row in rows.by_ref().take(ROWS) {
        let Row { id, cells } = row.into();
        match id {
            Some(id) => html.raw("<tr id=\"").text(id).raw("\">"),
            None => html.raw("<tr>"),
        };
        for ((head, is_number), cell) in columns.iter().zip(cells) {
            html.raw(if *is_number {
                "<td class=\"number\" data-head=\""
            } else {
                "<td data-head=\""
            })
            .text(head)
            .raw("\">")
            .text(cell)
            .raw("</td>");
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody>\n</table></div>\n");
    if rows.peek().is_some() {
        html.raw("<p class=\"soft\">The API has more.</p>\n");
    }
}
