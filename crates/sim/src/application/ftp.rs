//! Files over FTP (RFC 959): a control connection, and in passive mode a data connection for each
//! file.
//!
//! Client and server say what those of the kernel engine say to each other. The control connection
//! has no row of its own, as there.

use mptcplab_plan::{Traffic, Way};
use mptcplab_stack::endpoint::ConnectionId;

use super::conversation::{CLIENT, SERVER};
use crate::core::Core;

/// Longest line of either end.
const LINE_BYTES: usize = 4096;

/// What the item has to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The client opens a data connection to this port.
    Connect { port: u16 },
    /// One end begins to speak on the data connection.
    Speak { side: usize },
    /// The client has heard that the file is complete.
    Complete,
    /// Something went wrong, as a sentence.
    Fail(String),
}

/// What the client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    Greeting,
    User,
    Password,
    Type,
    Passive,
    /// Its data connection.
    Connection,
    /// That the transfer begins.
    Begin,
    /// That it has ended.
    End,
    Goodbye,
}

/// The control connection.
#[derive(Debug)]
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

    /// The server's end stands: it speaks first.
    pub(super) fn greet(&mut self, core: &mut Core, traffic: &Traffic) {
        self.say(core, traffic, SERVER, "220 mptcplab ready.");
    }

    /// The client asks for a further data connection.
    pub(super) fn ask_for_port(&mut self, core: &mut Core, traffic: &Traffic) {
        self.awaits = Awaits::Passive;
        let command = match traffic.target.is_ipv4() {
            true => "PASV",
            false => "EPSV",
        };
        self.say(core, traffic, CLIENT, command);
    }

    /// The client's data connection stands: it names the file.
    pub(super) fn name_file(&mut self, core: &mut Core, traffic: &Traffic, index: u32, bytes: u64) {
        self.awaits = Awaits::Begin;
        let command = match self.way {
            Way::Up | Way::Both => "STOR",
            Way::Down => "RETR",
        };
        self.say(core, traffic, CLIENT, &format!("{command} {index}-{bytes}"));
    }

    /// The server has done its part of the data connection.
    pub(super) fn confirm(&mut self, core: &mut Core, traffic: &Traffic) {
        self.say(core, traffic, SERVER, "226 Transfer complete.");
    }

    /// The client says good-bye.
    pub(super) fn quit(&mut self, core: &mut Core, traffic: &Traffic) {
        self.awaits = Awaits::Goodbye;
        self.say(core, traffic, CLIENT, "QUIT");
    }

    /// Writes what could not be written before.
    pub(super) fn flush(&mut self, core: &mut Core, traffic: &Traffic, side: usize) {
        let Some(id) = self.ids[side] else { return };
        let waiting = std::mem::take(&mut self.output[side]);
        if waiting.is_empty() {
            return;
        }
        let taken = core.write(node(traffic, side), id, waiting.clone().into());
        self.output[side] = waiting[taken..].to_vec();
    }

    fn say(&mut self, core: &mut Core, traffic: &Traffic, side: usize, line: &str) {
        self.output[side].extend_from_slice(line.as_bytes());
        self.output[side].extend_from_slice(b"\r\n");
        self.flush(core, traffic, side);
    }

    /// Reads what an end was told, and answers; what follows from it for the item.
    pub(super) fn read(&mut self, core: &mut Core, traffic: &Traffic, side: usize) -> Vec<Order> {
        let Some(id) = self.ids[side] else {
            return Vec::new();
        };
        let mut orders = Vec::new();
        while let Some(bytes) = core.read(node(traffic, side), id, LINE_BYTES) {
            self.input[side].extend_from_slice(&bytes);
            while let Some(line) = take_line(&mut self.input[side]) {
                orders.extend(match side {
                    CLIENT => self.hear_reply(core, traffic, &line),
                    _ => self.hear_command(core, traffic, &line),
                });
            }
            if self.input[side].len() > LINE_BYTES {
                orders.push(Order::Fail("FTP: a line is too long".to_owned()));
                self.input[side].clear();
            }
        }
        orders
    }

    /// The client hears a reply.
    fn hear_reply(&mut self, core: &mut Core, traffic: &Traffic, line: &str) -> Option<Order> {
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
            return Some(Order::Fail(format!("FTP: {line}")));
        }
        let (awaits, command) = match self.awaits {
            Awaits::Greeting => (Awaits::User, "USER mptcplab"),
            Awaits::User => (Awaits::Password, "PASS mptcplab"),
            Awaits::Password => (Awaits::Type, "TYPE I"),
            Awaits::Type => {
                self.ask_for_port(core, traffic);
                return None;
            }
            Awaits::Passive => {
                self.awaits = Awaits::Connection;
                return Some(match port_of(line) {
                    Some(port) => Order::Connect { port },
                    None => Order::Fail(format!("FTP: {line}")),
                });
            }
            Awaits::Connection | Awaits::Begin => {
                self.awaits = Awaits::End;
                return Some(Order::Speak { side: CLIENT });
            }
            Awaits::End => return Some(Order::Complete),
            Awaits::Goodbye => return None,
        };
        self.awaits = awaits;
        self.say(core, traffic, CLIENT, command);
        None
    }

    /// The server hears a command.
    fn hear_command(&mut self, core: &mut Core, traffic: &Traffic, line: &str) -> Option<Order> {
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
                self.say(core, traffic, SERVER, "150 Opening the data connection.");
                return Some(Order::Speak { side: SERVER });
            }
            "QUIT" => "221 Goodbye.".to_owned(),
            _ => format!("500 Command \"{line}\" not understood."),
        };
        self.say(core, traffic, SERVER, &reply);
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
