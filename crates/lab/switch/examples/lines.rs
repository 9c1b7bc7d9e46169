//! A switch on standard input and output, one request a line: `lines PORTS`, for ports 1 to PORTS
//! and one controller. Bytes are in hexadecimal, times in nanoseconds.
//!
//! - `message NOW BYTES`: the controller sends a message of OpenFlow.
//! - `packets NOW PORT COUNT INTERVAL BYTES...`: COUNT frames come in by a port, one every INTERVAL,
//!   the first at NOW; the frames in turn, as often as needed.
//!
//! A request is answered by a line `message BYTES` for each message to the controller, then `packet
//! PORT COUNT BYTES` for each frame that went out and how often it did, then `end`.

use std::collections::BTreeMap;
use std::env::args;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufWriter, Write, stdin, stdout};

use bytes::Bytes;
use mptcplab_openflow::Message;
use mptcplab_switch::{Config, ControllerId, Output, PortSetup, Switch};

const CONTROLLER: ControllerId = ControllerId(0);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Everything that came out because of a request.
#[derive(Default)]
struct Answer {
    messages: Vec<Message>,
    frames: BTreeMap<(u32, Bytes), u64>,
}

impl Answer {
    fn take(&mut self, outputs: &mut Vec<Output>) {
        for output in outputs.drain(..) {
            match output {
                Output::Message { message, .. } => self.messages.push(message),
                Output::Packet { port, frame, .. } => {
                    *self.frames.entry((port, frame)).or_default() += 1;
                }
                Output::Close(_) => {}
            }
        }
    }

    fn write(&self, out: &mut impl Write) -> Result<()> {
        for message in &self.messages {
            let mut bytes = Vec::new();
            message.encode(&mut bytes)?;
            writeln!(out, "message {}", to_hex(&bytes))?;
        }
        for ((port, frame), count) in &self.frames {
            writeln!(out, "packet {port} {count} {}", to_hex(frame))?;
        }
        writeln!(out, "end")?;
        Ok(out.flush()?)
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [ports] = &arguments[..] else {
        return Err("lines PORTS".into());
    };
    let mut switch = Switch::new(Config {
        ports: (1..=ports.parse()?).map(PortSetup::new).collect(),
        ..Config::default()
    });
    switch.connect(CONTROLLER, &mut Vec::new());
    let mut out = BufWriter::new(stdout().lock());
    for (number, line) in stdin().lines().enumerate() {
        answer(&mut switch, &line?)
            .map_err(|error| format!("line {}: {error}", number + 1))?
            .write(&mut out)?;
    }
    Ok(())
}

/// Carries out a request.
fn answer(switch: &mut Switch, request: &str) -> Result<Answer> {
    let words: Vec<&str> = request.split(' ').collect();
    let mut answer = Answer::default();
    let mut out = Vec::new();
    match words[..] {
        ["message", now, bytes] => {
            let bytes = from_hex(bytes)?;
            match Message::decode(&bytes) {
                Ok(message) => {
                    switch.receive_message(now.parse()?, CONTROLLER, &message, &mut out);
                }
                Err(error) => answer.messages.push(error.answer(&bytes)),
            }
            answer.take(&mut out);
        }
        ["packets", now, port, count, interval, ref frames @ ..] if !frames.is_empty() => {
            let (now, count, interval): (u64, u64, u64) =
                (now.parse()?, count.parse()?, interval.parse()?);
            let port = port.parse()?;
            let frames: Vec<Bytes> = frames
                .iter()
                .map(|frame| from_hex(frame).map(Bytes::from))
                .collect::<Result<_>>()?;
            for (index, frame) in (0..count).zip(frames.iter().cycle()) {
                switch.receive_packet(now + index * interval, port, frame.clone(), &mut out);
                answer.take(&mut out);
            }
        }
        _ => {
            return Err(
                "neither `message NOW BYTES` nor `packets NOW PORT COUNT INTERVAL BYTES...`".into(),
            );
        }
    }
    Ok(answer)
}

fn from_hex(digits: &str) -> Result<Vec<u8>> {
    if !digits.is_ascii() || digits.len() % 2 == 1 {
        return Err(format!("no pairs of hexadecimal digits: {digits}").into());
    }
    let pairs = (0..digits.len()).step_by(2);
    Ok(pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16))
        .collect::<std::result::Result<_, _>>()?)
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
