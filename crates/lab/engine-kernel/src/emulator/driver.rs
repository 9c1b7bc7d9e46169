//! The loop of the emulator's thread.

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use mptcplab_link::{Delivery, Nanos};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::EventFd;
use nix::sys::time::{TimeSpec, TimeValLike};

use super::clock::{Clock, LinkTime};
use super::driven_link::{Arrivals, DrivenLink, Packet};
use super::switched::Switched;
use super::{Command, EmulatedLink, LinkEnd, Summary, Switches};
use crate::capture::Tap;
use crate::frames::port::Port;
use crate::lateness::Lateness;
use crate::realtime;

/// The thread of the emulator.
pub(super) struct Driver {
    pub(super) links: Vec<DrivenLink>,
    pub(super) switched: Option<Switched>,
    pub(super) time: LinkTime,
    commands: Receiver<Command>,
    readable: Epoll,
    pub(super) lateness: Lateness,
    realtime: bool,
    pub(super) due: Vec<Delivery<Packet>>,
}

impl Driver {
    pub(super) fn new(
        links: Vec<EmulatedLink>,
        switches: Option<Switches>,
        time: LinkTime,
        commands: Receiver<Command>,
        wake: &EventFd,
    ) -> io::Result<Self> {
        let readable = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, 0);
        readable.add(wake, event)?;
        let links = links
            .into_iter()
            .map(|link| {
                for port in link.ends.iter().filter_map(LinkEnd::port) {
                    readable.add(port, event)?;
                }
                DrivenLink::new(link)
            })
            .collect::<io::Result<Vec<_>>>()?;
        let connections = switches.as_ref().and_then(|one| one.connections.as_ref());
        if let Some(connections) = connections {
            readable.add(connections, event)?;
        }
        Ok(Self {
            switched: switches.map(|switches| Switched::new(switches, &links)),
            links,
            time,
            commands,
            readable,
            lateness: Lateness::default(),
            realtime: false,
            due: Vec::new(),
        })
    }

    pub(super) fn run(mut self, wake: &EventFd) -> io::Result<Summary> {
        realtime::sharpen_timers();
        self.realtime = realtime::is_granted();
        let mut woken = false;
        loop {
            let arrivals = self.take_arrivals()?;
            if woken && arrivals == Arrivals::None {
                self.forget_errors()?;
            }
            match self.time.stands() {
                true => self.talk()?,
                false => self.deliver()?,
            }
            if !self.execute()? {
                break;
            }
            woken = arrivals != Arrivals::More && self.sleep()? && wake.read().is_err();
        }
        let mut overruns = 0;
        for link in &mut self.links {
            overruns += link.count_overruns()?.iter().sum::<u64>();
        }
        let flow_entries = self.switched.as_ref().map(Switched::flow_entries);
        let ends = self.links.into_iter().flat_map(|link| link.ends);
        Port::close_all(ends.filter_map(LinkEnd::into_port))?;
        Ok(Summary {
            lateness: self.lateness,
            realtime: self.realtime,
            overruns,
            flow_entries: flow_entries.unwrap_or_default(),
        })
    }

    fn now(&self) -> Nanos {
        self.time.now()
    }

    /// Offers the frames that have arrived to the models.
    pub(super) fn take_arrivals(&mut self) -> io::Result<Arrivals> {
        let clock = Clock::compare(&self.time)?;
        let mut arrivals = Arrivals::None;
        for link in &mut self.links {
            arrivals = arrivals.max(link.take_arrivals(&clock));
        }
        Ok(arrivals)
    }

    /// Clears the errors of interfaces that were set down: each makes its socket ready until the
    /// error is read. Being woken by it over and over would keep a processor, with real-time
    /// priority, from all else, the kernel's own workers that open subflows included.
    fn forget_errors(&self) -> io::Result<()> {
        self.links
            .iter()
            .flat_map(DrivenLink::ports)
            .try_for_each(Port::forget_error)
    }

    /// Sends the packets that are due.
    pub(super) fn deliver(&mut self) -> io::Result<()> {
        for link in &mut self.links {
            if link.is_switched {
                continue;
            }
            let horizon = link.horizon;
            if link
                .next_deadline()
                .is_some_and(|deadline| deadline <= horizon)
            {
                link.deliver(&self.time, &mut self.due, &mut self.lateness)?;
            }
        }
        self.deliver_switched()
    }

    /// Lets links at switches, the switches and their controller do what is due.
    fn deliver_switched(&mut self) -> io::Result<()> {
        match &mut self.switched {
            Some(switched) => switched.deliver(&mut self.links, &self.time, &mut self.lateness),
            None => Ok(()),
        }
    }

    /// Executes the commands of other threads; false when the emulator is to end.
    fn execute(&mut self) -> io::Result<bool> {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Change {
                    link,
                    change,
                    carrier,
                    answer,
                } => {
                    let now = self.now();
                    let result = self.links[link].model.change(now, &change);
                    if let (Some(switched), Some(up)) = (&mut self.switched, carrier) {
                        switched.set_link(now, &mut self.links, link, up);
                    }
                    answer.send(result.map_err(io::Error::other)).ok();
                }
                Command::State { answer } => {
                    if !self.time.stands() {
                        self.deliver_switched()?;
                        let others = self.links.iter_mut().filter(|link| !link.is_switched);
                        for link in others {
                            link.deliver(&self.time, &mut self.due, &mut self.lateness)?;
                        }
                    }
                    let states = self.links.iter_mut().map(DrivenLink::state);
                    answer.send(states.collect::<io::Result<_>>()?).ok();
                }
                Command::IsReady { answer } => {
                    let switched = self.switched.as_ref();
                    answer.send(switched.is_none_or(Switched::is_ready)).ok();
                }
                Command::Begin { zero, taps, answer } => {
                    answer.send(self.begin(zero, taps)).ok();
                }
                Command::Pause { answer } => drop(answer.send(self.pause())),
                Command::Resume { answer } => drop(answer.send(self.resume())),
                Command::Step { answer } => drop(answer.send(self.step())),
                Command::Packets { answer } => drop(answer.send(self.packets())),
                Command::Stop => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Begins the run, with the links as new.
    fn begin(&mut self, zero: Instant, taps: Vec<[Option<Tap>; 2]>) -> io::Result<()> {
        let by_ns = self.time.begin(zero);
        self.lateness = Lateness::default();
        for (link, taps) in self.links.iter_mut().zip(taps) {
            link.begin(taps)?;
        }
        if let Some(switched) = &mut self.switched {
            switched.begin(by_ns);
        }
        Ok(())
    }

    /// Waits for a frame, a command or the next delivery; false for the last of these.
    fn sleep(&self) -> io::Result<bool> {
        let deadlines = self.links.iter().filter_map(DrivenLink::next_deadline);
        let switched = self.switched.as_ref().and_then(Switched::next_deadline);
        let deadline = deadlines.chain(switched).min();
        // While the clock stands none comes.
        let deadline = deadline.filter(|_| !self.time.stands());
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
