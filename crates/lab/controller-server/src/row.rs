//! Reports as lines: JSON for programs, words and `key=value` for people.

use std::fmt;

use mptcplab_controller::{Event, Flow, Link, PortRef};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::names;
use crate::report::Report;

/// A report as a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Time since the server began, ns.
    pub(crate) t_ns: u64,
    pub(crate) event: &'static str,
    pub(crate) fields: Vec<(&'static str, Value)>,
}

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Number(u64),
    Text(String),
    List(Vec<String>),
}

impl Row {
    pub(crate) fn new(t_ns: u64, report: &Report) -> Self {
        let (event, fields) = match report {
            Report::Listening {
                address,
                is_tls,
                policy,
            } => (
                "listening",
                vec![
                    ("address", text(address)),
                    ("transport", text(if *is_tls { "tls" } else { "tcp" })),
                    ("policy", text(policy)),
                ],
            ),
            Report::ListeningHttp { address, is_tls } => (
                "listening_http",
                vec![
                    ("address", text(address)),
                    ("transport", text(if *is_tls { "tls" } else { "tcp" })),
                ],
            ),
            Report::Opened { channel, peer } => (
                "channel_opened",
                vec![("channel", number(*channel)), ("peer", text(peer))],
            ),
            Report::Features { channel, datapath } => (
                "features",
                vec![("channel", number(*channel)), ("switch", switch(*datapath))],
            ),
            Report::Ended { channel, reason } => (
                "channel_closed",
                vec![("channel", number(*channel)), ("reason", text(reason))],
            ),
            Report::NotAccepted(error) => ("not_accepted", vec![("reason", text(error))]),
            Report::Event(event) => of_event(event),
        };
        Self {
            t_ns,
            event,
            fields,
        }
    }

    /// A row that tells how many rows were lost before it.
    pub(crate) fn lost(t_ns: u64, rows: u64) -> Self {
        Self {
            t_ns,
            event: "rows_lost",
            fields: vec![("rows", number(rows))],
        }
    }
}

fn of_event(event: &Event) -> (&'static str, Vec<(&'static str, Value)>) {
    match event {
        Event::SwitchUp(datapath) => ("switch_up", vec![("switch", switch(*datapath))]),
        Event::SwitchDown(datapath) => ("switch_down", vec![("switch", switch(*datapath))]),
        Event::NotMaster(datapath) => ("not_master", vec![("switch", switch(*datapath))]),
        Event::LinkUp(link) => ("link_up", vec![("link", text(names::link(link)))]),
        Event::LinkDown(link) => ("link_down", vec![("link", text(names::link(link)))]),
        Event::LinkRefused(at) => ("link_refused", vec![("port", port(*at))]),
        Event::HostAt(host, at) => ("host_at", vec![("host", text(host)), ("port", port(*at))]),
        Event::HostRefused(host, at) => (
            "host_refused",
            vec![("host", text(host)), ("port", port(*at))],
        ),
        Event::PortBlocked(at) => ("port_blocked", vec![("port", port(*at))]),
        Event::Opened { connection } => ("opened", vec![("connection", number(*connection))]),
        Event::FallsBack { connection, flow } => {
            ("falls_back", of_subflow(*connection, flow, None))
        }
        Event::Placed {
            connection,
            flow,
            path,
        } => ("placed", of_subflow(*connection, flow, Some(path))),
        Event::Refused { connection, flow } => ("refused", of_subflow(*connection, flow, None)),
        Event::Waits { connection, flow } => ("waits", of_subflow(*connection, flow, None)),
        Event::NotInstalled { connection, flow } => {
            ("not_installed", of_subflow(*connection, flow, None))
        }
        Event::Moved {
            connection,
            flow,
            path,
        } => ("moved", of_subflow(*connection, flow, Some(path))),
        Event::Closed { connection, bytes } => (
            "closed",
            vec![
                ("connection", number(*connection)),
                ("bytes", number(*bytes)),
            ],
        ),
    }
}

fn of_subflow(connection: u64, flow: &Flow, path: Option<&[Link]>) -> Vec<(&'static str, Value)> {
    let path = path.map(|path| ("path", Value::List(names::path(path))));
    let subflow = [
        ("connection", number(connection)),
        ("subflow", Value::Text(names::flow(flow))),
        ("protocol", number(flow.protocol)),
    ];
    subflow.into_iter().chain(path).collect()
}

fn number(number: impl Into<u64>) -> Value {
    Value::Number(number.into())
}

fn text(shown: impl fmt::Display) -> Value {
    Value::Text(shown.to_string())
}

fn switch(datapath: u64) -> Value {
    Value::Text(names::switch(datapath))
}

fn port(at: PortRef) -> Value {
    Value::Text(names::port(at))
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len() + 2))?;
        map.serialize_entry("t_ns", &self.t_ns)?;
        map.serialize_entry("event", self.event)?;
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, rest_ns) = (self.t_ns / 1_000_000_000, self.t_ns % 1_000_000_000);
        write!(f, "{seconds}.{:06} {}", rest_ns / 1000, self.event)?;
        for (key, value) in &self.fields {
            write!(f, " {key}={value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) if text.contains(' ') => write!(f, "{text:?}"),
            Self::Text(text) => f.write_str(text),
            Self::List(parts) => f.write_str(&parts.join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_words_for_people_and_json_for_programs() {
        let link = Link {
            from: PortRef::new(1, 2),
            to: PortRef::new(0xab, 1),
        };
        let flow = Flow {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            protocol: 6,
            source_port: 40000,
            destination_port: 80,
        };
        let report = Report::Event(Event::Placed {
            connection: 3,
            flow,
            path: vec![link, link],
        });
        let row = Row::new(1_234_567_890, &report);
        assert_eq!(
            row.to_string(),
            "1.234567 placed connection=3 subflow=10.0.0.1:40000-10.0.0.2:80 protocol=6 \
             path=0000000000000001:2-00000000000000ab:1,0000000000000001:2-00000000000000ab:1"
        );
        assert_eq!(
            serde_json::to_string(&row).expect("JSON"),
            r#"{"t_ns":1234567890,"event":"placed","connection":3,"#.to_owned()
                + r#""subflow":"10.0.0.1:40000-10.0.0.2:80","protocol":6,"#
                + r#""path":["0000000000000001:2-00000000000000ab:1","#
                + r#""0000000000000001:2-00000000000000ab:1"]}"#
        );
    }

    #[test]
    fn a_text_of_several_words_is_quoted_for_people() {
        let report = Report::Ended {
            channel: 1,
            reason: crate::Ended::ByPeer,
        };
        let shown = Row::new(0, &report).to_string();
        assert_eq!(
            shown,
            "0.000000 channel_closed channel=1 reason=\"closed by the switch\""
        );
    }
}
