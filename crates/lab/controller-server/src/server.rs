//! The loop that has the controller: sockets and the clock.

use std::io;
use std::mem;
use std::net::{SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use mptcplab_controller::{ConnectionId, Controller, Output, Policy, policy};

use crate::channels::Channels;
use crate::config::{Config, Limits};
use crate::error::StartError;
use crate::history::{self, History};
use crate::http::{Answer, Api, Question};
use crate::ready::{self, Ready};
use crate::report::{Ended, Report};
use crate::row::Row;
use crate::snapshot::{LastRows, Snapshot};
use crate::tls;

/// Bytes that are read of a channel before others have their turn.
const READ_BYTES: usize = 64 << 10;
/// Connections that are accepted before channels have their turn.
const ACCEPTED_AT_ONCE: usize = 16;
/// The time from one preparation of transfers to the next.
const PREPARATIONS: Duration = Duration::from_secs(10);
/// The time for which none is accepted after the system has refused.
const PAUSE: Duration = Duration::from_millis(100);

/// A controller that listens.
pub struct Server {
    listener: TcpListener,
    controller: Controller,
    channels: Channels,
    limits: Limits,
    is_tls: bool,
    /// The begin of the controller's time.
    begun: Instant,
    /// When transfers are prepared next.
    prepares_at: Instant,
    /// No connection is accepted before.
    paused_until: Option<Instant>,
    /// The number of the first event of the controller that is not reported.
    next_event: u64,
    /// Reports that are not told yet, with their times.
    reports: Vec<(u64, Report)>,
    outputs: Vec<Output>,
    buffer: Vec<u8>,
    api: Option<Api>,
    /// The last events, for the API.
    last_rows: LastRows,
    /// The last minutes, for the API, and when they have their next sample.
    history: History,
    samples_at: Instant,
}

impl Server {
    /// A server that listens; it serves when it [runs](Self::run).
    ///
    /// # Errors
    ///
    /// An address beyond the loopback without TLS that was not asked for, an address that cannot be
    /// listened at, files of TLS that cannot be used, a policy that there is not; and the same of the
    /// API, which beyond the loopback needs a token as well.
    pub fn bind(config: &Config) -> Result<Self, StartError> {
        Self::bind_with(config, |seed| policy(&config.policy, seed))
    }

    /// As [`bind`](Self::bind), with the policy that `supply` makes of a seed, if it makes one.
    ///
    /// # Errors
    ///
    /// As [`bind`](Self::bind).
    pub fn bind_with(
        config: &Config,
        supply: impl FnOnce(u64) -> Option<Box<dyn Policy>>,
    ) -> Result<Self, StartError> {
        let address = config.listen;
        if config.tls.is_none() && !config.plain_tcp && !address.ip().to_canonical().is_loopback() {
            return Err(StartError::PlainBeyondLoopback(address));
        }
        let tls = config.tls.as_ref().map(tls::server_config).transpose()?;
        let setup = config.controller()?;
        let policy =
            supply(setup.seed).ok_or_else(|| StartError::UnknownPolicy(config.policy.clone()))?;
        let listen = |error| StartError::Listen { address, error };
        let listener = TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let api = config.http.as_ref().map(Api::start).transpose()?;
        let mut server = Self {
            listener,
            controller: Controller::new(setup, policy),
            is_tls: tls.is_some(),
            channels: Channels::new(config.limits, tls),
            limits: config.limits,
            begun: Instant::now(),
            prepares_at: Instant::now() + PREPARATIONS,
            paused_until: None,
            next_event: 0,
            reports: Vec::new(),
            outputs: Vec::new(),
            buffer: vec![0; READ_BYTES],
            api,
            last_rows: LastRows::default(),
            history: History::default(),
            samples_at: Instant::now(),
        };
        server.note(Report::Listening {
            address: server.local_addr().map_err(listen)?,
            is_tls: server.is_tls,
            policy: server.controller.policy_name().to_owned(),
        });
        if let Some(api) = &server.api {
            let (address, is_tls) = (api.address, api.is_tls);
            server.note(Report::ListeningHttp { address, is_tls });
        }
        Ok(server)
    }

    /// The address at which it listens.
    ///
    /// # Errors
    ///
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is readable, or `tell`, which is given each report and its time (ns), wants
    /// no more.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn run(
        &mut self,
        stop: impl AsFd,
        mut tell: impl FnMut(u64, &Report) -> ControlFlow<()>,
    ) -> io::Result<()> {
        loop {
            if self.report(&mut tell).is_break() {
                return Ok(());
            }
            let ready = self.wait(stop.as_fd())?;
            if ready.is_stopped {
                for number in self.channels.numbers() {
                    self.end(number, Ended::Stopped);
                }
                let _ = self.report(&mut tell);
                return Ok(());
            }
            if ready.has_connection {
                self.accept();
            }
            for number in ready.channels {
                self.receive(number);
            }
            if ready.is_asked {
                self.answer_api();
            }
            let now_ns = self.now_ns();
            self.controller.advance(now_ns, &mut self.outputs);
            self.carry_out();
            for number in self.channels.late(Instant::now()) {
                self.end(number, Ended::NoFeatures);
            }
            self.send();
            let now = Instant::now();
            if self.prepares_at <= now {
                self.controller.prepare();
                self.prepares_at = now + PREPARATIONS;
            }
            if self.api.is_some() && self.samples_at <= now {
                self.history.take(self.now_ns(), &self.controller);
                self.samples_at = now + history::INTERVAL;
            }
        }
    }

    /// Waits until there is something to do.
    fn wait(&mut self, stop: BorrowedFd<'_>) -> io::Result<Ready> {
        let now = Instant::now();
        self.paused_until.take_if(|until| *until <= now);
        let controller = self.controller.next_deadline();
        let deadline = [
            controller.map(|at_ns| self.begun + Duration::from_nanos(at_ns)),
            self.channels.next_deadline(),
            self.paused_until,
            Some(self.prepares_at),
            self.api.is_some().then_some(self.samples_at),
        ];
        let deadline = deadline.into_iter().flatten().min();
        let timeout = deadline.map(|at| at.saturating_duration_since(now));
        let listener = self.listener.as_fd();
        let listener = self.paused_until.is_none().then_some(listener);
        let questions = self.api.as_ref().map(|api| api.answerer.as_fd());
        ready::wait(stop, listener, questions, &self.channels, timeout)
    }

    /// Gives the API a copy of what is known, or takes what it tells.
    fn answer_api(&mut self) {
        let now_ns = self.now_ns();
        let (controller, last_rows) = (&mut self.controller, &self.last_rows);
        let history = &self.history;
        self.api.take_if(|api| {
            let answer = |question| match question {
                Question::Copy => {
                    let copy = Snapshot::new(now_ns, controller, last_rows, history);
                    Answer::Copy(Box::new(copy))
                }
                Question::Tell(size) => Answer::Told(controller.tell_size(size.server, size.bytes)),
            };
            api.answerer.answer(answer).is_err()
        });
    }

    /// Takes new connections.
    fn accept(&mut self) {
        for _ in 0..ACCEPTED_AT_ONCE {
            let accepted = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if is_passing(&error) => return,
                Err(error) => {
                    self.note(Report::NotAccepted(error));
                    self.paused_until = Some(Instant::now() + PAUSE);
                    return;
                }
            };
            let (stream, peer) = accepted;
            let now = Instant::now();
            if let Some(number) = self.channels.yielding(now, peer.ip()) {
                self.end(number, Ended::NoRoom);
            }
            match self.channels.add(now, stream, peer.ip()) {
                Ok(channel) => {
                    self.note(Report::Opened { channel, peer });
                    self.tell_controller(channel);
                }
                Err(error) => {
                    self.note(Report::NotAccepted(error));
                    self.paused_until = Some(Instant::now() + PAUSE);
                    return;
                }
            }
            if let Some(oldest) = self.channels.crowded() {
                self.end(oldest, Ended::Crowded);
            }
        }
    }

    /// Tells the controller of a channel as soon as it can have messages.
    fn tell_controller(&mut self, number: u32) {
        let now_ns = self.now_ns();
        if let Some(channel) = self.channels.get_mut(number)
            && channel.is_open()
            && !mem::replace(&mut channel.is_told, true)
        {
            let connection = ConnectionId(number);
            self.controller
                .connect(now_ns, connection, &mut self.outputs);
            self.carry_out();
        }
    }

    /// Takes what has come from a switch.
    fn receive(&mut self, number: u32) {
        let Some(channel) = self.channels.get_mut(number) else {
            return;
        };
        let mut messages = Vec::new();
        let received = channel.receive(&mut self.buffer, &mut messages);
        self.tell_controller(number);
        for message in messages {
            let now_ns = self.now_ns();
            let connection = ConnectionId(number);
            let out = &mut self.outputs;
            self.controller
                .receive_message(now_ns, connection, &message, out);
            self.carry_out();
        }
        self.take_features(number);
        if let Err(reason) = received {
            self.end(number, reason);
        }
    }

    /// Takes note that a switch has said its features.
    fn take_features(&mut self, number: u32) {
        if let Some(channel) = self.channels.get_mut(number)
            && let Some(datapath) = self.controller.datapath_of(ConnectionId(number))
            && channel.unknown_until.take().is_some()
        {
            let channel = number;
            self.note(Report::Features { channel, datapath });
        }
    }

    /// Does what the controller wants done.
    fn carry_out(&mut self) {
        for output in mem::take(&mut self.outputs) {
            match output {
                Output::Message {
                    connection,
                    message,
                } => {
                    if let Some(channel) = self.channels.get_mut(connection.0) {
                        channel.put(&message);
                    }
                }
                Output::Close(connection) => {
                    if let Some(channel) = self.channels.get_mut(connection.0) {
                        channel.is_told = false;
                        self.end(connection.0, Ended::ByController);
                    }
                }
            }
        }
    }

    /// Sends what switches take.
    fn send(&mut self) {
        for number in self.channels.numbers() {
            if let Some(channel) = self.channels.get_mut(number)
                && let Err(reason) = channel.send(self.limits.unread_bytes)
            {
                self.end(number, reason);
            }
        }
    }

    /// Ends a channel.
    fn end(&mut self, number: u32, reason: Ended) {
        let Some(mut channel) = self.channels.remove(number) else {
            return;
        };
        // The last message may say why; it is sent as far as there is room.
        channel.close();
        self.note(Report::Ended {
            channel: number,
            reason,
        });
        if channel.is_told {
            let now_ns = self.now_ns();
            let connection = ConnectionId(number);
            self.controller
                .disconnect(now_ns, connection, &mut self.outputs);
            self.carry_out();
        }
    }

    /// Tells what has happened since the last time.
    fn report(
        &mut self,
        tell: &mut impl FnMut(u64, &Report) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut reports = mem::take(&mut self.reports);
        for (number, at_ns, event) in self.controller.events_since(self.next_event) {
            self.next_event = number + 1;
            reports.push((at_ns, Report::Event(event.clone())));
        }
        reports.sort_by_key(|(t_ns, _)| *t_ns);
        for (t_ns, report) in reports {
            if self.api.is_some() {
                self.last_rows.add(Row::new(t_ns, &report));
            }
            tell(t_ns, &report)?;
        }
        ControlFlow::Continue(())
    }

    fn note(&mut self, report: Report) {
        self.reports.push((self.now_ns(), report));
    }

    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }
}

/// Whether an error of accept(2) is about one connection, or none.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
