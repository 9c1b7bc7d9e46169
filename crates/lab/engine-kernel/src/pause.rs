//! A run that is paused: its clock stands, its links hold all packets, its programs are stopped.
//!
//! Commands come as lines on standard input, `NUMBER WORD`, and each is answered by a row with its
//! number. The kernel's own timers cannot be stopped: what TCP sends by them meanwhile, as a
//! retransmission, waits in the links.

use std::io;
use std::str::SplitWhitespace;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use mptcplab_link::{Nanos, Place};
use mptcplab_record::{Event, Row};
use mptcplab_wire::summary;
use serde::Serialize;

use crate::emulator::{Control, HeldPacket, Stepped};
use crate::halt::Halted;
use crate::netns::NetNs;
use crate::plan::Plan;
use crate::record::Recorder;

const TIMERS_RAN_ON: &str = "the run was paused, while the kernel's TCP timers and the programs' own \
    clocks ran on: packets may have been retransmitted that were not lost";
/// The number of the answer to a pause at a time that was set before.
const UNASKED: u32 = 0;

/// A command from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Pauses the run at a time after its zero.
    PauseAt(Nanos),
    /// Is answered with its number.
    Numbered(u32, What),
    /// The traffic is to end: a run that is paused goes on.
    GoOn,
}

/// The content of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Pause,
    Resume,
    /// Lets so many packets pass.
    Step(u32),
    /// Tells the packets in the links.
    Packets,
}

impl Command {
    /// Reads a line; none where it is no command.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let command = match words.next()? {
            "pause-at" => Self::PauseAt(words.next()?.parse().ok()?),
            number => Self::Numbered(number.parse().ok()?, What::read(&mut words)?),
        };
        words.next().is_none().then_some(command)
    }
}

impl What {
    fn read(words: &mut SplitWhitespace<'_>) -> Option<Self> {
        Some(match words.next()? {
            "pause" => Self::Pause,
            "resume" => Self::Resume,
            "step" => Self::Step(words.next()?.parse().ok()?),
            "packets" => Self::Packets,
            _ => return None,
        })
    }
}

/// The answer to a command.
#[derive(Serialize)]
struct Answer {
    number: u32,
    t_ns: Nanos,
    is_paused: bool,
    /// Of a run that has gone on, the time for which it was paused.
    paused_ns: Option<u64>,
    /// The packets that were let pass.
    stepped: Vec<SteppedRow>,
    /// The links, where their packets were asked for.
    links: Vec<LinkRow>,
    error: Option<String>,
}

impl Row for Answer {
    const TABLE: &'static str = "answer";
}

#[derive(Serialize)]
struct SteppedRow {
    t_ns: Nanos,
    link: String,
    from: String,
    to: String,
    packet: String,
}

#[derive(Serialize)]
struct LinkRow {
    link: String,
    from: String,
    to: String,
    /// Since the run's zero.
    delivered_packets: u64,
    packets: Vec<PacketRow>,
}

#[derive(Serialize)]
struct PacketRow {
    place: &'static str,
    /// Since when it is in the queue, when it has been sent, or when it arrives.
    t_ns: Nanos,
    ip_bytes: u32,
    packet: String,
}

/// The parts of a run that are paused together.
pub(crate) struct Pauser {
    pub(crate) plan: Arc<Plan>,
    pub(crate) emulator: Control,
    pub(crate) recorder: Recorder,
    /// The namespaces of programs that are stopped.
    pub(crate) namespaces: Vec<NetNs>,
    pub(crate) halted: Option<Halted>,
}

impl Pauser {
    /// Carries out commands until none can come any more.
    pub(crate) fn attend(mut self, commands: &Receiver<Command>) {
        let mut pause_at = None;
        while let Some(command) = self.next(commands, &mut pause_at) {
            match command {
                Command::PauseAt(at_ns) => {
                    let zero = self.recorder.clock().zero();
                    pause_at = Some(zero + Duration::from_nanos(at_ns));
                }
                Command::Numbered(number, what) => self.obey(number, what),
                Command::GoOn => {
                    pause_at = None;
                    // Where the links have failed, the run ends by that.
                    let _ = self.resume();
                }
            }
        }
    }

    /// The next command, or the pause that was to come at a time.
    fn next(
        &self,
        commands: &Receiver<Command>,
        pause_at: &mut Option<Instant>,
    ) -> Option<Command> {
        let Some(at) = *pause_at else {
            return commands.recv().ok();
        };
        match self.recorder.clock().receive_by(commands, at) {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                *pause_at = None;
                Some(Command::Numbered(UNASKED, What::Pause))
            }
        }
    }

    fn obey(&mut self, number: u32, what: What) {
        let mut answer = Answer {
            number,
            t_ns: 0,
            is_paused: false,
            paused_ns: None,
            stepped: Vec::new(),
            links: Vec::new(),
            error: None,
        };
        let done = match what {
            What::Pause => self.pause(),
            What::Resume => self.resume().map(|paused| {
                answer.paused_ns = paused.map(|paused| paused.as_nanos() as u64);
            }),
            What::Step(packets) => self.step(packets, &mut answer.stepped),
            What::Packets => self.packets().map(|links| answer.links = links),
        };
        answer.error = done.err().map(|error| error.to_string());
        answer.t_ns = self.recorder.now();
        answer.is_paused = self.recorder.clock().stands();
        // Without a reader the run is about to end.
        self.recorder.write(answer).ok();
    }

    fn pause(&mut self) -> io::Result<()> {
        if self.recorder.clock().stands() {
            return Ok(());
        }
        self.emulator.pause()?;
        self.recorder.event("pause", "run", "paused");
        self.halted = Some(Halted::in_namespaces(&self.namespaces)?);
        Ok(())
    }

    fn resume(&mut self) -> io::Result<Option<Duration>> {
        if let Some(halted) = self.halted.take() {
            halted.go_on();
        }
        let t_ns = self.recorder.now();
        let paused = self.emulator.resume()?;
        if let Some(paused) = paused {
            let label = format!("went on after {:.1} s", paused.as_secs_f64());
            self.recorder.write(Event {
                t_ns,
                kind: "pause",
                subject: "run",
                label: &label,
            })?;
            self.recorder.warn(TIMERS_RAN_ON);
        }
        Ok(paused)
    }

    fn step(&self, packets: u32, rows: &mut Vec<SteppedRow>) -> io::Result<()> {
        self.demand_pause()?;
        for _ in 0..packets {
            let stepped = self.emulator.step()?;
            if stepped.is_empty() {
                break;
            }
            rows.extend(stepped.iter().map(|one| self.stepped_row(one)));
        }
        Ok(())
    }

    fn packets(&self) -> io::Result<Vec<LinkRow>> {
        // The links have no time for this while they carry packets.
        self.demand_pause()?;
        let mut rows = Vec::new();
        let states = self.emulator.state()?;
        for (number, directions) in self.emulator.packets()?.into_iter().enumerate() {
            for (direction, held) in directions.iter().enumerate() {
                let (link, from, to) = self.named(number, direction);
                rows.push(LinkRow {
                    link,
                    from,
                    to,
                    delivered_packets: states[number][direction].counters.delivered_packets,
                    packets: held.iter().map(packet_row).collect(),
                });
            }
        }
        Ok(rows)
    }

    fn demand_pause(&self) -> io::Result<()> {
        match self.recorder.clock().stands() {
            true => Ok(()),
            false => Err(io::Error::other("the run is not paused")),
        }
    }

    fn stepped_row(&self, stepped: &Stepped) -> SteppedRow {
        let (link, from, to) = self.named(stepped.link, stepped.direction);
        SteppedRow {
            t_ns: stepped.t_ns,
            link,
            from,
            to,
            packet: summary::frame(&stepped.frame),
        }
    }

    /// The names of a link and of its ends, in this direction.
    fn named(&self, link: usize, direction: usize) -> (String, String, String) {
        let planned = &self.plan.links[link];
        let [from, to] = [direction, 1 - direction].map(|end| self.plan.subject(planned.ends[end]));
        (planned.name.clone(), from, to)
    }
}

fn packet_row(held: &HeldPacket) -> PacketRow {
    let (place, t_ns) = match held.place {
        Place::Propagating { at } => ("propagating", at),
        Place::Sending { until } => ("sending", until),
        Place::Queued { since } => ("queued", since),
    };
    PacketRow {
        place,
        t_ns,
        ip_bytes: held.ip_bytes,
        packet: summary::frame(&held.frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_or_nothing() {
        let numbered = |number, what| Some(Command::Numbered(number, what));
        assert_eq!(Command::read("3 pause"), numbered(3, What::Pause));
        assert_eq!(Command::read("4 step 10"), numbered(4, What::Step(10)));
        assert_eq!(Command::read("pause-at 5"), Some(Command::PauseAt(5)));
        for line in [
            "",
            "pause",
            "3",
            "3 step",
            "3 step -1",
            "3 pause now",
            "pause-at soon",
        ] {
            assert_eq!(Command::read(line), None, "{line}");
        }
    }
}
