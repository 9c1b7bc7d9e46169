//! A client's steps in the story, and its words for their results.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use mptcplab_subflow::{
    Error, Manager, Open, SubflowEvent, Watch, subflow_ids, subflow_info, subflow_option,
    subflow_tuple,
};

/// Longer than anything takes that happens at all.
const PATIENCE: Duration = Duration::from_secs(10);

struct Story {
    told: String,
    socket: TcpStream,
    manager: Manager,
}

impl Story {
    fn tell(&mut self, what: &str, outcome: &str) {
        writeln!(self.told, "{what}: {outcome}").unwrap();
    }

    fn ids(&mut self) {
        let ids = subflow_ids(&self.socket).unwrap();
        let ids: Vec<_> = ids.iter().map(u32::to_string).collect();
        self.tell("ids", &ids.join(" "));
    }

    fn tuple(&mut self, id: u32) {
        let told = subflow_tuple(&self.socket, id).map(|tuple| {
            format!(
                "{} {} {} {} {} {}",
                tuple.local.ip(),
                tuple.remote.ip(),
                known(tuple.local_id),
                known(tuple.remote_id),
                tuple.state.unwrap_or("?"),
                known(tuple.backup.map(u8::from)),
            )
        });
        self.tell(&format!("tuple {id}"), &outcome(told));
    }

    fn open(&mut self, local: &str, remote: Option<&str>, backup: bool, interface: Option<&str>) {
        let open = Open {
            remote: remote.map(address),
            backup,
            interface: interface.map(str::to_owned),
            timeout: Duration::from_millis(300),
            ..Open::from(address(local))
        };
        let opened = self.manager.open_subflow(&self.socket, &open);
        let remote = remote.unwrap_or("-");
        let what = format!(
            "open {local} {remote} {} {}",
            u8::from(backup),
            interface.unwrap_or("-")
        );
        self.tell(&what, &outcome(opened));
    }

    fn close(&mut self, id: u32) {
        let done = self.manager.close_subflow(&self.socket, id);
        self.tell(&format!("close {id}"), &outcome(done.map(|()| "done")));
    }

    fn set_backup(&mut self, id: u32, backup: bool) {
        let done = self.manager.set_backup(&self.socket, id, backup);
        let what = format!("backup {id} {}", u8::from(backup));
        self.tell(&what, &outcome(done.map(|()| "done")));
    }

    fn announce(&mut self, local: &str) {
        let id = self.manager.announce(&self.socket, address(local));
        self.tell(&format!("announce {local}"), &outcome(id));
    }

    fn withdraw(&mut self, id: u8) {
        let done = self.manager.withdraw(&self.socket, id);
        self.tell(&format!("withdraw {id}"), &outcome(done.map(|()| "done")));
    }

    /// The first byte of TCP_INFO is the state.
    fn tcp_info(&mut self, id: u32) {
        let value = subflow_option(&self.socket, id, libc::IPPROTO_TCP, libc::TCP_INFO);
        let told = value.map(|value| value.map_or(0, |value| value[0]));
        if told.is_ok() {
            let state = subflow_info(&self.socket, id).unwrap().state;
            assert_eq!(state, Some("ESTABLISHED"));
        }
        self.tell(&format!("TCP_INFO {id}"), &outcome(told));
    }

    /// Has the server do something.
    fn ask(&mut self, what: u8) {
        self.socket.write_all(&[what]).unwrap();
    }

    fn echo(&mut self) {
        self.ask(b'x');
        let mut heard = [0];
        let heard = self.socket.read(&mut heard).map(|_| heard[0] as char);
        self.tell("echo", &heard.unwrap().to_string());
    }

    fn event(&mut self, watch: &mut Watch) {
        let event = watch.next_within(Some(PATIENCE)).unwrap();
        self.tell("event", &event.map_or("none".to_owned(), in_words));
    }
}

/// Ports differ from run to run.
fn in_words(event: SubflowEvent) -> String {
    let ip = |address: Option<SocketAddr>| known(address.map(|address| address.ip()));
    let kind = serde_json::to_value(event.kind).unwrap();
    format!(
        "{} {} {} {} {} {} {} {}",
        kind.as_str().unwrap(),
        known(event.subflow),
        ip(event.local),
        ip(event.remote),
        known(event.local_id),
        known(event.remote_id),
        known(event.backup.map(u8::from)),
        event.reason.as_deref().unwrap_or("-"),
    )
}

fn known<T: ToString>(value: Option<T>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

fn outcome<T: ToString>(result: Result<T, Error>) -> String {
    let name = |error| serde_json::to_value(error).unwrap()["kind"].clone();
    result.map_or_else(
        |error| name(error).as_str().unwrap().to_owned(),
        |value| value.to_string(),
    )
}

/// `10.0.1.2` or `10.0.1.2/80`.
fn address(text: &str) -> SocketAddr {
    let (ip, port) = text.split_once('/').unwrap_or((text, "0"));
    SocketAddr::new(ip.parse::<IpAddr>().unwrap(), port.parse().unwrap())
}

/// Tells the story of a connection to the story's server, by a manager.
pub(crate) fn tell(socket: TcpStream, manager: Manager) -> String {
    let mut story = Story {
        told: String::new(),
        socket,
        manager,
    };
    story.echo();
    let mut watch = story.manager.events(&story.socket).unwrap();
    story.ids();
    story.open("10.0.2.2", None, false, None);
    story.event(&mut watch);
    story.open("10.0.3.2", None, true, Some("eth3"));
    story.event(&mut watch);
    story.ids();
    story.tuple(2);
    story.tuple(3);
    story.tcp_info(2);
    story.set_backup(3, false);
    story.tuple(3);
    story.set_backup(2, true);
    story.tuple(2);
    story.set_backup(2, false);
    story.ask(b'p');
    story.event(&mut watch);
    story.announce("10.0.1.2");
    story.withdraw(3);
    story.withdraw(77);
    story.ask(b'a');
    story.event(&mut watch);
    story.open("10.0.2.2", Some("10.0.2.1"), false, None);
    story.event(&mut watch);
    story.close(4);
    story.event(&mut watch);
    story.ask(b'w');
    story.event(&mut watch);
    story.close(1);
    story.event(&mut watch);
    story.echo();
    story.close(2);
    story.event(&mut watch);
    story.echo();
    story.ids();
    drop(watch);

    story.close(2);
    story.set_backup(99, true);
    story.tuple(99);
    story.tcp_info(99);
    story.open("10.9.9.9", None, false, None);
    story.open("10.0.2.2", None, false, Some("wlan7"));
    story.open("10.0.2.2", Some("fd00:2::1"), false, None);
    story.open("10.0.2.2", Some("192.0.2.1"), false, None);
    story.open("10.0.2.2", Some("10.0.2.1/9"), false, None);
    story.open("10.0.2.2", Some("10.0.2.77"), false, None);
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let told = subflow_ids(&datagrams).map(|ids| ids.len());
    story.tell("ids of another", &outcome(told));

    let mut watch = story.manager.events(&story.socket).unwrap();
    story.ask(b'q');
    assert_eq!(story.socket.read(&mut [0]).unwrap(), 0);
    let Story {
        mut told, socket, ..
    } = story;
    drop(socket);
    let kinds = (&mut watch).map(|event| in_words(event.unwrap()));
    let last = kinds.last().unwrap();
    writeln!(told, "last event: {last}").unwrap();
    assert!(watch.has_ended());
    told
}
