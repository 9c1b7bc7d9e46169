//! Files over FTP (RFC 959): a control connection, and in passive mode a data connection for each
//! file.
//!
//! Client and server exchange the lines that those of the kernel engine do. The control connection
//! has no row of its own, as there.

use mptcplab_plan::{Traffic, Way};
use mptcplab_stack::ConnectionId;

use super::side::{CLIENT, SERVER};
use crate::network::Network;

/// Longest line of either end.
const LINE_BYTES: usize = 4096;

/// A step of the flow that follows from the control connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The client opens a data connection to this port.
    Connect { port: u16 },
    /// One end begins to transfer on the data connection.
    Transfer { side: usize },
    /// The client has the reply that the file is complete.
    Complete,
    /// Something went wrong, as a sentence.
    Fail(String),
}

/// The event that the client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    Greeting,
    User,
    Password,
    Type,
    Passive,
    /// Its data connection.
    Connection,
    /// The reply that the transfer begins.
    Begin,
    /// The reply that it has ended.
    End,
    Goodbye,
}

/// The control connection.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub(super) ids: [Option<ConnectionId>; 2],
    input: [Vec<u8>; 2],
    output: [Vec<u8>; 2],
    awaits: Awaits,
    /// Port of the server for data.
    data_port: u16,
    way: Way,
}

impl Control {
    pub(super) fn new(way: Way, data_port: u16) -> Self {
        Self {
            ids: [None; 2],
            input: Default::default(),
            output: Default::default(),
            awaits: Awaits::Greeting,
            data_port,
            way,
        }
    }

    /// Greets, once the server's end is established.
    pub(super) fn greet(&mut self, network: &mut Network, traffic: &Traffic) {
        self.send_line(network, traffic, SERVER, "220 mptcplab ready.");
    }

    /// Asks for a further data connection, as the client.
    pub(super) fn ask_for_port(&mut self, network: &mut Network, traffic: &Traffic) {
        self.awaits = Awaits::Passive;
        let command = match traffic.target.is_ipv4() {
            true => "PASV",
            false => "EPSV",
        };
        self.send_line(network, traffic, CLIENT, command);
    }

    /// Names the file, once the client's data connection is established.
    pub(super) fn name_file(
        &mut self,
        network: &mut Network,
        traffic: &Traffic,
        index: u32,
        bytes: u64,
    ) {
        self.awaits = Awaits::Begin;
        let command = match self.way {
            Way::Up | Way::Both => "STOR",
            Way::Down => "RETR",
        };
        self.send_line(
            network,
            traffic,
            CLIENT,
            &format!("{command} {index}-{bytes}"),
        );
    }

    /// Confirms the file, once the server is done with the data connection.
    pub(super) fn confirm(&mut self, network: &mut Network, traffic: &Traffic) {
        self.send_line(network, traffic, SERVER, "226 Transfer complete.");
    }

    /// Ends the session, as the client.
    pub(super) fn quit(&mut self, network: &mut Network, traffic: &Traffic) {
        self.awaits = Awaits::Goodbye;
        self.send_line(network, traffic, CLIENT, "QUIT");
    }

    /// Writes what could not be written before.
    pub(super) fn flush(&mut self, network: &mut Network, traffic: &Traffic, side: usize) {
        let Some(id) = self.ids[side] else { return };
        let waiting = std::mem::take(&mut self.output[side]);
        if waiting.is_empty() {
            return;
        }
        let taken = network.write(node(traffic, side), id, waiting.clone().into());
        self.output[side] = waiting[taken..].to_vec();
    }

    fn send_line(&mut self, network: &mut Network, traffic: &Traffic, side: usize, line: &str) {
        self.output[side].extend_from_slice(line.as_bytes());
        self.output[side].extend_from_slice(b"\r\n");
        self.flush(network, traffic, side);
    }

    /// Reads what an end was told, and answers; what follows from it for the flow.
    pub(super) fn read(
        &mut self,
        network: &mut Network,
        traffic: &Traffic,
        side: usize,
    ) -> Vec<Step> {
        let Some(id) = self.ids[side] else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        while let Some(bytes) = network.read(node(traffic, side), id, LINE_BYTES) {
            self.input[side].extend_from_slice(&bytes);
            while let Some(line) = take_line(&mut self.input[side]) {
                steps.extend(match side {
                    CLIENT => self.on_reply(network, traffic, &line),
                    _ => self.on_command(network, traffic, &line),
                });
            }
            if self.input[side].len() > LINE_BYTES {
                steps.push(Step::Fail("FTP: a line is too long".to_owned()));
                self.input[side].clear();
            }
        }
        steps
    }

    /// The client hears a reply.
    fn on_reply(&mut self, network: &mut Network, traffic: &Traffic, line: &str) -> Option<Step> {
        let code = line.get(..3).unwrap_or_default();
        let wanted = match self.awaits {
            Awaits::Greeting => "220",
            Awaits::User => "331",
            Awaits::Password => "230",
            Awaits::Type => "200",
            Awaits::Passive if traffic.target.is_ipv4() => "227",
            Awaits::Passive => "229",
            Awaits::Connection | Awaits::Begin => "150",
            Awaits::End => "226",
            Awaits::Goodbye => "221",
        };
        if code != wanted {
            return Some(Step::Fail(format!("FTP: {line}")));
        }
        let (awaits, command) = match self.awaits {
            Awaits::Greeting => (Awaits::User, "USER mptcplab"),
            Awaits::User => (Awaits::Password, "PASS mptcplab"),
            Awaits::Password => (Awaits::Type, "TYPE I"),
            Awaits::Type => {
                self.ask_for_port(network, traffic);
                return None;
            }
            Awaits::Passive => {
                self.awaits = Awaits::Connection;
                return Some(match port_of(line) {
                    Some(port) => Step::Connect { port },
                    None => Step::Fail(format!("FTP: {line}")),
                });
            }
            Awaits::Connection | Awaits::Begin => {
                self.awaits = Awaits::End;
                return Some(Step::Transfer { side: CLIENT });
            }
            Awaits::End => return Some(Step::Complete),
            Awaits::Goodbye => return None,
        };
        self.awaits = awaits;
        self.send_line(network, traffic, CLIENT, command);
        None
    }

    /// The server hears a command.
    fn on_command(&mut self, network: &mut Network, traffic: &Traffic, line: &str) -> Option<Step> {
        let port = self.data_port;
        let reply = match line.split(' ').next().unwrap_or_default() {
            "USER" => "331 Password, please.".to_owned(),
            "PASS" => "230 Login successful.".to_owned(),
            "TYPE" => "200 Type set to: Binary.".to_owned(),
            "PASV" => {
                let host = traffic.target.to_string().replace('.', ",");
                let (high, low) = (port >> 8, port & 0xff);
                format!("227 Entering passive mode ({host},{high},{low}).")
            }
            "EPSV" => format!("229 Entering extended passive mode (|||{port}|)."),
            "STOR" | "RETR" => {
                self.send_line(network, traffic, SERVER, "150 Opening the data connection.");
                return Some(Step::Transfer { side: SERVER });
            }
            "QUIT" => "221 Goodbye.".to_owned(),
            _ => format!("500 Command \"{line}\" not understood."),
        };
        self.send_line(network, traffic, SERVER, &reply);
        None
    }
}

/// The node of an end.
fn node(traffic: &Traffic, side: usize) -> usize {
    match side {
        CLIENT => traffic.client,
        _ => traffic.server,
    }
}

/// Takes a whole line, without its end.
fn take_line(input: &mut Vec<u8>) -> Option<String> {
    let end = input.windows(2).position(|pair| pair == b"\r\n")?;
    let line = String::from_utf8_lossy(&input[..end]).into_owned();
    input.drain(..end + 2);
    Some(line)
}

/// The port in a reply to PASV (`(h1,h2,h3,h4,p1,p2)`) or EPSV (`(|||port|)`, RFC 2428).
fn port_of(line: &str) -> Option<u16> {
    let inside = line.split_once('(')?.1.split_once(')')?.0;
    if let Some(port) = inside.strip_prefix("|||") {
        return port.strip_suffix('|')?.parse().ok();
    }
    let mut numbers = inside.rsplit(',').map(str::parse::<u8>);
    let (low, high) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(u16::from_be_bytes([high, low]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_from_both_replies() {
        assert_eq!(port_of("227 Entering (10,0,1,2,147,137)."), Some(37_769));
        assert_eq!(port_of("229 Extended (|||37769|)."), Some(37_769));
        assert_eq!(port_of("227 Entering (10,0,1,2,300,1)."), None);
        assert_eq!(port_of("227 Entering passive mode"), None);
    }

    #[test]
    fn lines_are_taken_one_by_one_and_only_when_whole() {
        let mut input = b"220 one\r\n331 tw".to_vec();
        assert_eq!(take_line(&mut input).as_deref(), Some("220 one"));
        assert_eq!(take_line(&mut input), None);
        input.extend_from_slice(b"o\r\n");
        assert_eq!(take_line(&mut input).as_deref(), Some("331 two"));
    }
}
