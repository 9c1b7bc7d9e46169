//! The link model in real time: one thread that moves frames between the interfaces of the links.
//!
//! The thread sleeps until a frame arrives or one is due. A frame enters the model with the time
//! at which the kernel saw it, and leaves it at the first wake-up after it is due; how late that
//! is, is measured ([`Lateness`]). Packets of one large frame that leave in the same wake-up
//! travel as one large frame again.

mod clock;
mod connection;
mod connections;
mod driven_link;
mod driver;
mod middleboxes;
mod pausing;
mod switched;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use mptcplab_link::{Backlog, Counters, LinkChange, LinkConfig};
use mptcplab_plan::InterfaceRef;
use mptcplab_segment::{Decision, FlowEntries, Switching};
use nix::sys::eventfd::{EfdFlags, EventFd};

pub use self::clock::LinkTime;
pub use self::connections::Connections;
use self::driver::Driver;
pub use self::middleboxes::Middleboxes;
pub use self::pausing::{HeldPacket, Stepped};
use crate::capture::Tap;
use crate::controller::Failure;
use crate::frames::port::Port;
use crate::lateness::Lateness;
use crate::realtime::ReservedThread;

/// One link, ready to be driven: direction 0 carries packets from `ends[0]` to `ends[1]`.
pub struct EmulatedLink {
    /// Parameters of the link.
    pub config: LinkConfig,
    /// Seed of its random streams.
    pub seed: u64,
    /// Middleboxes, which packets meet after their propagation.
    pub middleboxes: Middleboxes,
    /// Its ends.
    pub ends: [LinkEnd; 2],
    /// Captures of what its two interfaces send and receive.
    pub taps: [Option<Tap>; 2],
}

/// An end of a link.
pub enum LinkEnd {
    /// The interface of a host or a router.
    Interface(Port),
    /// The interface of a bridge of Open vSwitch, whose datapath takes whole packets alone.
    Bridge(Port),
    /// A port of a switch, which the emulator's own thread drives.
    Switch(InterfaceRef),
}

impl LinkEnd {
    fn port(&self) -> Option<&Port> {
        match self {
            Self::Interface(port) | Self::Bridge(port) => Some(port),
            Self::Switch(_) => None,
        }
    }

    fn into_port(self) -> Option<Port> {
        match self {
            Self::Interface(port) | Self::Bridge(port) => Some(port),
            Self::Switch(_) => None,
        }
    }
}

/// The switches at links, and who is told what their controller decides.
pub struct Switches {
    /// The switches and their controller.
    pub switching: Switching,
    /// The connections to a controller and to switches outside.
    pub connections: Option<Connections>,
    /// The run begins later ([`Emulator::begin`]): decisions until then are none of its events.
    pub begins_later: bool,
    /// That of the controller's policy, which ends the emulator.
    pub failure: Failure,
    /// Called with each decision, on the emulator's thread.
    pub decided: Box<dyn FnMut(Decision) + Send>,
}

/// The state of one direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct DirectionState {
    /// Rate now, bits a second; `None` where it is unlimited or a trace.
    pub rate_bps: Option<u64>,
    /// Since the start.
    pub counters: Counters,
    /// Now.
    pub backlog: Backlog,
    /// Frames that the emulator itself has lost, since the start.
    pub overruns: u64,
}

/// The performance of the emulator.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Lateness of the frames that left.
    pub lateness: Lateness,
    /// Its thread had real-time priority.
    pub realtime: bool,
    /// Frames that it lost itself, because it did not come to take them in time.
    pub overruns: u64,
    /// The flow entries that its switches had.
    pub flow_entries: FlowEntries,
}

/// A running emulator; it ends with [`Emulator::stop`], or when this and every [`Control`] has
/// been dropped.
pub struct Emulator {
    control: Control,
    summary: Receiver<io::Result<Summary>>,
}

/// A handle for other threads: changes links and reads their state.
#[derive(Clone)]
pub struct Control {
    commands: Sender<Command>,
    wake: Arc<EventFd>,
}

enum Command {
    Change {
        link: usize,
        change: Box<LinkChange>,
        carrier: Option<bool>,
        answer: Sender<io::Result<()>>,
    },
    State {
        answer: Sender<Vec<[DirectionState; 2]>>,
    },
    IsReady {
        answer: Sender<bool>,
    },
    Begin {
        zero: Instant,
        taps: Vec<[Option<Tap>; 2]>,
        answer: Sender<io::Result<()>>,
    },
    Pause {
        answer: Sender<io::Result<()>>,
    },
    Resume {
        answer: Sender<io::Result<Option<Duration>>>,
    },
    Step {
        answer: Sender<io::Result<Vec<Stepped>>>,
    },
    Packets {
        answer: Sender<Vec<[Vec<HeldPacket>; 2]>>,
    },
    Stop,
}

impl Emulator {
    /// Starts on `thread`; where links end at switches, with those. `time` is that of the links, until
    /// the run [begins](Self::begin) with another zero; `failed` is called when the thread ends by an
    /// error, which [`Emulator::stop`] gives.
    ///
    /// # Errors
    /// When a link's configuration is refused by the model.
    pub fn start(
        thread: ReservedThread,
        links: Vec<EmulatedLink>,
        switches: Option<Switches>,
        time: LinkTime,
        failed: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (commands, inbox) = channel();
        let wake = Arc::new(EventFd::from_flags(
            EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC,
        )?);
        let (started, start) = channel();
        let (end, summary) = channel();
        thread.start({
            let wake = Arc::clone(&wake);
            // The receivers of the answers may have gone.
            move || match Driver::new(links, switches, time, inbox, &wake) {
                Ok(driver) => {
                    started.send(Ok(())).ok();
                    let alarm = Alarm(Some(failed));
                    let summary = driver.run(&wake);
                    if summary.is_ok() {
                        alarm.defuse();
                    }
                    end.send(summary).ok();
                }
                Err(error) => drop(started.send(Err(error))),
            }
        });
        start.recv().map_err(io::Error::other)??;
        Ok(Self {
            control: Control { commands, wake },
            summary,
        })
    }

    /// A handle for another thread.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Whether all channels to ends outside are at work, and a controller here knows the network.
    ///
    /// # Errors
    /// When the emulator has ended.
    pub fn is_ready(&self) -> io::Result<bool> {
        self.control.ask(|answer| Command::IsReady { answer })
    }

    /// Begins the run: from now on times are those since `zero`, and links are as new, with these
    /// captures. The switches and the controller go on as they are.
    ///
    /// # Errors
    /// When the emulator has ended.
    pub fn begin(&self, zero: Instant, taps: Vec<[Option<Tap>; 2]>) -> io::Result<()> {
        let begin = |answer| Command::Begin { zero, taps, answer };
        self.control.ask(begin)?
    }

    /// Ends the thread, and returns its performance.
    ///
    /// # Errors
    /// The error that ended the thread before.
    pub fn stop(self) -> io::Result<Summary> {
        self.control.send(Command::Stop).ok();
        self.summary.recv().map_err(io::Error::other)?
    }
}

impl Control {
    /// Changes the parameters of link number `link` now; where its carrier comes or goes, the
    /// switches at it are told.
    ///
    /// # Errors
    /// When the model refuses the values, or the emulator has ended.
    pub fn change(&self, link: usize, change: LinkChange, carrier: Option<bool>) -> io::Result<()> {
        self.ask(|answer| Command::Change {
            link,
            change: Box::new(change),
            carrier,
            answer,
        })?
    }

    /// The state of every link's two directions, in the order of the links.
    ///
    /// # Errors
    /// When the emulator has ended.
    pub fn state(&self) -> io::Result<Vec<[DirectionState; 2]>> {
        self.ask(|answer| Command::State { answer })
    }

    /// Stops the run's clock: from now on no packet leaves a link. What comes is taken into them, at
    /// the moment at which the clock stands.
    ///
    /// # Errors
    /// When the emulator has ended, or ends.
    pub fn pause(&self) -> io::Result<()> {
        self.ask(|answer| Command::Pause { answer })?
    }

    /// Lets the run's clock go on; gives the time for which it stood, if it did.
    ///
    /// # Errors
    /// When the emulator has ended, or ends.
    pub fn resume(&self) -> io::Result<Option<Duration>> {
        self.ask(|answer| Command::Resume { answer })?
    }

    /// While the clock stands, moves it to where the next packet comes out of a link, and lets that
    /// one alone pass; none where nothing is in a link. A middlebox can make several of one.
    ///
    /// # Errors
    /// When the emulator has ended, or ends.
    pub fn step(&self) -> io::Result<Vec<Stepped>> {
        self.ask(|answer| Command::Step { answer })?
    }

    /// The packets in every link's two directions, first those that come out first.
    ///
    /// # Errors
    /// When the emulator has ended.
    pub fn packets(&self) -> io::Result<Vec<[Vec<HeldPacket>; 2]>> {
        self.ask(|answer| Command::Packets { answer })
    }

    /// Sends a command and waits for its answer.
    fn ask<T>(&self, command: impl FnOnce(Sender<T>) -> Command) -> io::Result<T> {
        let (answer, result) = channel();
        self.send(command(answer))?;
        result.recv().map_err(io::Error::other)
    }

    fn send(&self, command: Command) -> io::Result<()> {
        self.commands
            .send(command)
            .map_err(|_| io::Error::other("the emulator has ended"))?;
        self.wake.write(1)?;
        Ok(())
    }
}

/// Calls its function when it is dropped, also by a panic.
struct Alarm<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Alarm<F> {
    fn defuse(mut self) {
        self.0 = None;
    }
}

impl<F: FnOnce()> Drop for Alarm<F> {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call();
        }
    }
}
