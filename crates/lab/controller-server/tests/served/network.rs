//! Switches with a channel of real sockets, links between them, and hosts.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use bytes::Bytes;
use mptcplab_controller::PortRef;
use mptcplab_openflow::Framer;
use mptcplab_switch::{Config, ControllerId, Output, PortSetup, Switch};
use mptcplab_wire::option::MptcpOption;
use rustls::{ClientConnection, StreamOwned};

use crate::host::{Host, flags};
use crate::serving::Serving;

const CONTROLLER: ControllerId = ControllerId(0);

/// A stream of bytes that never waits.
trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

/// A switch with its channel.
struct Wired {
    datapath: u64,
    switch: Switch,
    channel: Option<Box<dyn Stream>>,
    framer: Framer,
    out: Vec<u8>,
}

/// The switches 1, 2 and 3 in a triangle, with hosts at 1 and 3, and others without links.
pub(crate) struct Network {
    begun: Instant,
    switches: Vec<Wired>,
    pub(crate) hosts: Vec<Host>,
    links: BTreeMap<PortRef, PortRef>,
    frames: VecDeque<(PortRef, Bytes)>,
}

impl Network {
    pub(crate) fn new() -> Self {
        Self::of(3)
    }

    /// A network of so many switches, three at least.
    pub(crate) fn of(switches: u64) -> Self {
        let mut links = BTreeMap::new();
        for (from, to) in [((1, 1), (3, 1)), ((1, 2), (2, 1)), ((2, 2), (3, 2))] {
            let (from, to) = (PortRef::new(from.0, from.1), PortRef::new(to.0, to.1));
            links.insert(from, to);
            links.insert(to, from);
        }
        let switches = (1..=switches).map(|datapath| Wired {
            datapath,
            switch: Switch::new(Config {
                datapath_id: datapath,
                ports: (1..=4).map(PortSetup::new).collect(),
                ..Config::default()
            }),
            channel: None,
            framer: Framer::new(u16::MAX),
            out: Vec::new(),
        });
        let host = |datapath, port, ip| Host::new(PortRef::new(datapath, port), ip);
        Self {
            begun: Instant::now(),
            switches: switches.collect(),
            hosts: vec![
                host(1, 3, "10.0.0.1"),
                host(3, 3, "10.0.0.2"),
                host(1, 4, "10.0.1.1"),
                host(3, 4, "10.0.1.2"),
            ],
            links,
            frames: VecDeque::new(),
        }
    }

    /// Connects a switch, by TLS where given.
    pub(crate) fn connect(&mut self, datapath: u64, to: &Serving, tls: Option<ClientConnection>) {
        let stream = TcpStream::connect(to.address).expect("a connection");
        stream.set_nonblocking(true).expect("set");
        let wired = &mut self.switches[datapath as usize - 1];
        wired.channel = Some(match tls {
            None => Box::new(stream),
            Some(client) => Box::new(StreamOwned::new(client, stream)),
        });
        wired.framer = Framer::new(u16::MAX);
        wired.out.clear();
        let mut out = Vec::new();
        wired.switch.connect(CONTROLLER, &mut out);
        self.take(datapath, out);
    }

    /// Cuts the channel of a switch.
    pub(crate) fn disconnect(&mut self, datapath: u64) {
        let wired = &mut self.switches[datapath as usize - 1];
        wired.channel = None;
        wired.switch.disconnect(CONTROLLER);
    }

    /// Whether a switch has a channel.
    pub(crate) fn is_connected(&self, datapath: u64) -> bool {
        self.switches[datapath as usize - 1].channel.is_some()
    }

    /// Does what can be done without waiting.
    pub(crate) fn turn(&mut self) {
        let now_ns = self.begun.elapsed().as_nanos() as u64;
        for index in 0..self.switches.len() {
            let wired = &mut self.switches[index];
            let mut out = Vec::new();
            wired.switch.advance(now_ns, &mut out);
            wired.exchange(now_ns, &mut out);
            let datapath = wired.datapath;
            self.take(datapath, out);
        }
        while let Some((at, frame)) = self.frames.pop_front() {
            let mut out = Vec::new();
            self.switches[at.datapath as usize - 1]
                .switch
                .receive_packet(now_ns, at.port, frame, &mut out);
            self.take(at.datapath, out);
        }
    }

    fn take(&mut self, datapath: u64, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Message { message, .. } => {
                    let out = &mut self.switches[datapath as usize - 1].out;
                    message.encode(out).expect("not too long");
                }
                Output::Packet { port, frame, .. } => {
                    let from = PortRef::new(datapath, port);
                    if let Some(to) = self.links.get(&from) {
                        self.frames.push_back((*to, frame));
                        continue;
                    }
                    let hosts = self.hosts.iter_mut().filter(|host| host.at == from);
                    let answers = hosts.filter_map(|host| host.receive(&frame));
                    self.frames
                        .extend(answers.map(|answer| (from, answer.into())));
                }
                Output::Close(_) => self.disconnect(datapath),
            }
        }
    }

    /// A SYN of a host to port 80 of another one.
    pub(crate) fn syn(&mut self, from: usize, to: usize, option: MptcpOption) {
        let destination = (self.hosts[to].ip, 80).into();
        let host = &self.hosts[from];
        let segment = host.segment(destination, 1000, flags(true, false), vec![option]);
        let frame = host.frame(self.hosts[to].mac, segment);
        self.frames.push_back((host.at, frame.into()));
    }
}

impl Wired {
    /// Sends and receives what there is.
    fn exchange(&mut self, now_ns: u64, outputs: &mut Vec<Output>) {
        let Some(channel) = &mut self.channel else {
            return;
        };
        let mut is_closed = false;
        while !self.out.is_empty() {
            match channel.write(&self.out) {
                Ok(taken) => drop(self.out.drain(..taken)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    is_closed = true;
                    break;
                }
            }
        }
        let mut buffer = [0; 4096];
        while !is_closed {
            match channel.read(&mut buffer) {
                Ok(0) => is_closed = true,
                Ok(count) => self.framer.feed(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => is_closed = true,
            }
            while let Some(frame) = self.framer.next_frame().expect("OpenFlow") {
                let message = frame.message.expect("a message");
                self.switch
                    .receive_message(now_ns, CONTROLLER, &message, outputs);
            }
        }
        if is_closed {
            self.channel = None;
            self.switch.disconnect(CONTROLLER);
        }
    }
}
