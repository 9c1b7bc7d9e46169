//! The link model in real time: one thread that moves frames between the interfaces of the links.
//!
//! The thread sleeps until a frame arrives or one is due. A frame enters the model with the time
//! at which the kernel saw it, and leaves it at the first wake-up after it is due; how late that
//! is, is measured ([`Lateness`]). Packets of one large frame that leave in the same wake-up
//! travel as one large frame again.

use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mptcplab_link::{Backlog, Counters, Delivery, Link, LinkChange, LinkConfig, Nanos};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::{TimeSpec, TimeValLike};

use crate::capture::Tap;
use crate::frames::port::{Outgoing, Port};
use crate::frames::segments::Frame;
use crate::lateness::Lateness;
use crate::realtime::{self, ReservedThread};

/// Frames taken from one interface before the others have their turn.
const ARRIVALS_A_TURN: usize = 256;

/// One link, ready to be driven: direction 0 carries packets from `ports[0]` to `ports[1]`.
pub struct EmulatedLink {
    /// How it treats packets.
    pub config: LinkConfig,
    /// Seed of its random streams.
    pub seed: u64,
    /// Where its packets come from and go to.
    pub ports: [Port; 2],
    /// Captures of what its two interfaces send and receive.
    pub taps: [Option<Tap>; 2],
}

/// What one direction of a link has done and holds.
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

/// How the emulator did.
#[derive(Clone, Debug)]
pub struct Summary {
    /// How late frames left.
    pub lateness: Lateness,
    /// Its thread had real-time priority.
    pub realtime: bool,
    /// Frames that it lost itself, because it did not come to take them in time.
    pub overruns: u64,
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
        change: LinkChange,
        answer: Sender<io::Result<()>>,
    },
    State {
        answer: Sender<Vec<[DirectionState; 2]>>,
    },
    Stop,
}

impl Emulator {
    /// Starts on `thread`. `zero` is the zero of the links' time; `failed` is called when the
    /// thread ends by an error, which [`Emulator::stop`] gives.
    ///
    /// # Errors
    /// When a link's configuration is refused by the model.
    pub fn start(
        thread: ReservedThread,
        links: Vec<EmulatedLink>,
        zero: Instant,
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
            // Nobody waits for the answers any more where the receiver has gone.
            move || match Driver::new(links, zero, inbox, &wake) {
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

    /// Ends the thread and says how it did.
    ///
    /// # Errors
    /// What ended the thread before, if anything did.
    pub fn stop(self) -> io::Result<Summary> {
        self.control.send(Command::Stop).ok();
        self.summary.recv().map_err(io::Error::other)?
    }
}

impl Control {
    /// Changes the parameters of link number `link` now.
    ///
    /// # Errors
    /// When the model refuses the values, or the emulator has ended.
    pub fn change(&self, link: usize, change: LinkChange) -> io::Result<()> {
        let (answer, result) = channel();
        self.send(Command::Change {
            link,
            change,
            answer,
        })?;
        result.recv().map_err(io::Error::other)?
    }

    /// The state of every link's two directions, in the order of the links.
    ///
    /// # Errors
    /// When the emulator has ended.
    pub fn state(&self) -> io::Result<Vec<[DirectionState; 2]>> {
        let (answer, result) = channel();
        self.send(Command::State { answer })?;
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

/// Calls its function when it goes, also when that is by a panic.
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

/// One packet in the model: the frame that it came in, and which of its packets it is.
#[derive(Clone)]
struct Packet {
    frame: Rc<Frame>,
    index: usize,
}

/// What one turn took from the interfaces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Arrivals {
    /// Nothing: there was none.
    None,
    /// All that had arrived.
    All,
    /// There is more.
    More,
}

/// A link in the hands of the thread.
struct Driven {
    model: Link<Packet>,
    ports: [Port; 2],
    taps: [Option<Tap>; 2],
    overruns: [u64; 2],
    /// Frames that have arrived and are not offered yet, by their time.
    arrivals: Vec<(Nanos, usize, Frame)>,
    /// Everything that arrived until then has been offered.
    horizon: Nanos,
}

struct Driver {
    links: Vec<Driven>,
    zero: Instant,
    commands: Receiver<Command>,
    readable: Epoll,
    lateness: Lateness,
    realtime: bool,
    due: Vec<Delivery<Packet>>,
}

impl Driver {
    fn new(
        links: Vec<EmulatedLink>,
        zero: Instant,
        commands: Receiver<Command>,
        wake: &EventFd,
    ) -> io::Result<Self> {
        let readable = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, 0);
        readable.add(wake, event)?;
        let links = links
            .into_iter()
            .map(|link| {
                for port in &link.ports {
                    readable.add(port, event)?;
                }
                let model = Link::new(&link.config, link.seed).map_err(io::Error::other)?;
                Ok(Driven {
                    model,
                    ports: link.ports,
                    taps: link.taps,
                    overruns: [0; 2],
                    arrivals: Vec::new(),
                    horizon: 0,
                })
            })
            .collect::<io::Result<_>>()?;
        Ok(Self {
            links,
            zero,
            commands,
            readable,
            lateness: Lateness::default(),
            realtime: false,
            due: Vec::new(),
        })
    }

    fn run(mut self, wake: &EventFd) -> io::Result<Summary> {
        realtime::sharpen_timers();
        self.realtime = realtime::is_granted();
        let mut woken = false;
        loop {
            let arrivals = self.take_arrivals()?;
            if woken && arrivals == Arrivals::None {
                self.forget_errors()?;
            }
            self.deliver()?;
            if !self.obey()? {
                break;
            }
            woken = arrivals != Arrivals::More && self.sleep()? && wake.read().is_err();
        }
        let mut overruns = 0;
        for link in &mut self.links {
            overruns += link.count_overruns()?.iter().sum::<u64>();
        }
        Port::close_all(self.links.into_iter().flat_map(|link| link.ports))?;
        Ok(Summary {
            lateness: self.lateness,
            realtime: self.realtime,
            overruns,
        })
    }

    fn now(&self) -> Nanos {
        self.zero.elapsed().as_nanos() as Nanos
    }

    /// Moves what has arrived into the models.
    fn take_arrivals(&mut self) -> io::Result<Arrivals> {
        let clock = Clock::compare(self.zero)?;
        let mut arrivals = Arrivals::None;
        for link in &mut self.links {
            arrivals = arrivals.max(link.take_arrivals(&clock));
        }
        Ok(arrivals)
    }

    /// An interface that was set down makes its socket ready until somebody asks for the error. To
    /// be woken by it over and over would keep a processor, with real-time priority, from all else:
    /// from the kernel's own workers too, which open subflows.
    fn forget_errors(&self) -> io::Result<()> {
        self.links
            .iter()
            .flat_map(|link| &link.ports)
            .try_for_each(Port::forget_error)
    }

    /// Sends what is due.
    fn deliver(&mut self) -> io::Result<()> {
        for link in &mut self.links {
            let horizon = link.horizon;
            if link
                .model
                .next_deadline()
                .is_some_and(|deadline| deadline <= horizon)
            {
                link.deliver(self.zero, &mut self.due, &mut self.lateness)?;
            }
        }
        Ok(())
    }

    /// Carries out what other threads have asked for; false when the emulator is to end.
    fn obey(&mut self) -> io::Result<bool> {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Change {
                    link,
                    change,
                    answer,
                } => {
                    let now = self.now();
                    let result = self.links[link].model.change(now, &change);
                    answer.send(result.map_err(io::Error::other)).ok();
                }
                Command::State { answer } => {
                    let mut states = Vec::with_capacity(self.links.len());
                    for link in &mut self.links {
                        link.deliver(self.zero, &mut self.due, &mut self.lateness)?;
                        states.push(link.state()?);
                    }
                    answer.send(states).ok();
                }
                Command::Stop => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Waits for a frame, a command or the next delivery. True when it was not the last of these.
    fn sleep(&self) -> io::Result<bool> {
        let deadline = self
            .links
            .iter()
            .filter_map(|link| link.model.next_deadline())
            .min();
        let timeout = match deadline.map(|deadline| deadline.saturating_sub(self.now())) {
            Some(0) => return Ok(false),
            Some(span) => Some(TimeSpec::nanoseconds(span.min(i64::MAX as u64) as i64)),
            None => None,
        };
        let mut ready = [PollFd::new(self.readable.0.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut ready, timeout, None) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Driven {
    /// Offers each packet of a frame that arrived at end `direction`.
    fn offer(&mut self, at: Nanos, direction: usize, frame: Frame) {
        let frame = Rc::new(frame);
        for index in 0..frame.packets() {
            if let Some(tap) = &mut self.taps[direction] {
                tap.sent(at, &frame, index);
            }
            let packet = Packet {
                frame: Rc::clone(&frame),
                index,
            };
            // A packet that the link refuses is counted by the model.
            let _ = self
                .model
                .offer(direction, at, frame.ip_bytes(index), packet);
        }
    }

    /// Offers the model what has arrived, in the order of arrival, as far as nothing earlier can
    /// be left in a ring.
    fn take_arrivals(&mut self, clock: &Clock) -> Arrivals {
        // The kernel stamps a frame before it stands in the ring: what is stamped up to here is
        // found by the reading that follows.
        let mut horizon = clock.now();
        let mut arrivals = Arrivals::None;
        for (direction, port) in self.ports.iter_mut().enumerate() {
            let mut last = None;
            for _ in 0..ARRIVALS_A_TURN {
                let Some(arrival) = port.receive() else {
                    last = None;
                    break;
                };
                let at = clock.since_zero(arrival.realtime_ns);
                self.arrivals.push((at, direction, arrival.frame));
                arrivals = arrivals.max(Arrivals::All);
                last = Some(at);
            }
            if let Some(last) = last {
                horizon = horizon.min(last);
                arrivals = Arrivals::More;
            }
        }
        self.arrivals.sort_by_key(|(at, ..)| *at);
        let ready = self.arrivals.partition_point(|(at, ..)| *at <= horizon);
        let later = self.arrivals.split_off(ready);
        for (at, direction, frame) in std::mem::replace(&mut self.arrivals, later) {
            self.offer(at, direction, frame);
        }
        self.horizon = self.horizon.max(horizon);
        if self.arrivals.is_empty() {
            arrivals
        } else {
            Arrivals::More
        }
    }

    /// Brings the model to its horizon and sends what is due.
    fn deliver(
        &mut self,
        zero: Instant,
        due: &mut Vec<Delivery<Packet>>,
        lateness: &mut Lateness,
    ) -> io::Result<()> {
        due.clear();
        self.model.poll(self.horizon, due);
        let now = zero.elapsed().as_nanos() as Nanos;
        for delivery in &*due {
            lateness.add(now.saturating_sub(delivery.at));
        }
        self.send(due)
    }

    /// Sends deliveries to the far ends, runs of packets of one frame as one frame.
    fn send(&mut self, due: &[Delivery<Packet>]) -> io::Result<()> {
        for direction in 0..2 {
            let far = 1 - direction;
            let mut batch: Vec<Outgoing<'_>> = Vec::new();
            let mut run: Option<(&Packet, usize)> = None;
            for delivery in due
                .iter()
                .filter(|delivery| delivery.direction == direction)
            {
                let packet = &delivery.packet;
                if let Some(tap) = &mut self.taps[far] {
                    tap.received(delivery.at, &packet.frame, packet.index);
                }
                run = match run {
                    Some((first, count))
                        if Rc::ptr_eq(&first.frame, &packet.frame)
                            && first.index + count == packet.index =>
                    {
                        Some((first, count + 1))
                    }
                    Some((first, count)) => {
                        batch.push(first.frame.carve(first.index..first.index + count));
                        Some((packet, 1))
                    }
                    None => Some((packet, 1)),
                };
            }
            if let Some((first, count)) = run {
                batch.push(first.frame.carve(first.index..first.index + count));
            }
            self.ports[far].send(&batch)?;
        }
        Ok(())
    }

    /// Frames lost on their way in, by direction, since the start.
    fn count_overruns(&mut self) -> io::Result<[u64; 2]> {
        for (total, port) in self.overruns.iter_mut().zip(&mut self.ports) {
            *total += port.overruns()?;
        }
        Ok(self.overruns)
    }

    fn state(&mut self) -> io::Result<[DirectionState; 2]> {
        let overruns = self.count_overruns()?;
        Ok([0, 1].map(|direction| DirectionState {
            rate_bps: self.model.rate_bps(direction),
            counters: self.model.counters(direction),
            backlog: self.model.backlog(direction),
            overruns: overruns[direction],
        }))
    }
}

/// The run's clock beside the one of the kernel's stamps.
struct Clock {
    zero: Instant,
    /// The run's zero on CLOCK_REALTIME, nanoseconds since the Unix epoch.
    realtime_zero_ns: u64,
}

impl Clock {
    /// Compares the two clocks now. Of a few tries the one counts during which least time passed:
    /// the thread may be held up between the two readings.
    fn compare(zero: Instant) -> io::Result<Self> {
        const TRIES: usize = 5;
        const GOOD_NS: Nanos = 2_000;
        let mut best = (Nanos::MAX, 0);
        for _ in 0..TRIES {
            let before = zero.elapsed().as_nanos() as Nanos;
            let realtime = SystemTime::now().duration_since(UNIX_EPOCH);
            let realtime_ns = realtime.map_err(io::Error::other)?.as_nanos() as u64;
            let passed = zero.elapsed().as_nanos() as Nanos - before;
            if passed < best.0 {
                best = (passed, realtime_ns.saturating_sub(before + passed / 2));
            }
            if passed <= GOOD_NS {
                break;
            }
        }
        Ok(Self {
            zero,
            realtime_zero_ns: best.1,
        })
    }

    fn now(&self) -> Nanos {
        self.zero.elapsed().as_nanos() as Nanos
    }

    /// A stamp of the kernel on the run's clock, never later than now.
    fn since_zero(&self, realtime_ns: u64) -> Nanos {
        realtime_ns
            .saturating_sub(self.realtime_zero_ns)
            .min(self.now())
    }
}
