//! UDP: a datagram for each piece of input, and what arrives written out.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::unistd::{read, write};
use socket2::Socket;

use crate::account::Transfer;
use crate::descriptor::{CAREFUL_BYTES, Standard};
use crate::failure::Failure;
use crate::options::Options;
use crate::report::Report;
use crate::signals::Signals;
use crate::waiting::{Poll, deadline, ready};

/// Payload of a datagram at most, as netcat has it, bytes.
const DATAGRAM_BYTES: usize = 16384;
/// The largest datagram there is, bytes.
const LARGEST_BYTES: usize = 65536;

/// Waits for the first datagram and takes its sender as the only peer.
///
/// # Errors
/// The system's; a signal.
pub(crate) fn meet(socket: &Socket, report: &Report, signals: &Signals) -> Result<(), Failure> {
    loop {
        ready(socket.as_fd(), PollFlags::POLLIN, None, signals)?;
        let mut nothing = [MaybeUninit::uninit(); 1];
        match socket.peek_from(&mut nothing) {
            Ok((_, sender)) => {
                if let Some(at) = sender.as_socket() {
                    let ip = at.ip().to_canonical();
                    report.verbose(&format!("datagram from {ip} port {}", at.port()));
                }
                return socket.connect(&sender).map_err(Failure::of("connect"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(Failure::of("receive")(error)),
        }
    }
}

/// Copies until nothing moves for the time that `-w` gives, until the time after the end of input
/// that `-q` gives, or until a signal.
pub(crate) fn carry(
    socket: &Socket,
    standard: &Standard,
    options: &Options,
    sends: bool,
    signals: &Signals,
) -> Transfer {
    let began = Instant::now();
    let mut exchange = Exchange {
        socket,
        standard,
        signals,
        input_open: sends,
        pending: Vec::new(),
        sent: 0,
        received: 0,
    };
    let result = exchange.run(options);
    Transfer {
        sent: exchange.sent,
        received: exchange.received,
        lasted: began.elapsed(),
        result,
    }
}

struct Exchange<'a> {
    socket: &'a Socket,
    standard: &'a Standard,
    signals: &'a Signals,
    input_open: bool,
    /// Read, and not yet taken by the socket.
    pending: Vec<u8>,
    sent: u64,
    received: u64,
}

impl Exchange<'_> {
    fn run(&mut self, options: &Options) -> Result<(), Failure> {
        let mut last_move = Instant::now();
        let mut quit = None;
        loop {
            let idle = options.timeout();
            let idle = idle.and_then(|idle| last_move.checked_add(idle));
            let mut events = PollFlags::POLLIN;
            events.set(PollFlags::POLLOUT, !self.pending.is_empty());
            let reads = self.input_open && self.pending.is_empty();
            let mut poll = Poll::default();
            poll.add(self.signals.as_fd(), PollFlags::POLLIN);
            poll.add(self.socket.as_fd(), events);
            let input = poll.add_if(reads, self.standard.input.as_fd(), PollFlags::POLLIN);
            let until = idle.into_iter().chain(quit).min();
            let polled = poll.until(until).map_err(Failure::of("wait"))?;
            if let Some(signal) = self.signals.take() {
                self.receive()?;
                return Err(Failure::Signal(signal));
            }
            if polled.none() || quit.is_some_and(|at| at <= Instant::now()) {
                return Ok(());
            }
            if polled.any(input) {
                self.read_input()?;
                if !self.input_open {
                    quit = deadline(options.quit_after());
                }
            }
            self.receive()?;
            self.send()?;
            last_move = Instant::now();
        }
    }

    fn read_input(&mut self) -> Result<(), Failure> {
        let mut bytes = vec![0; DATAGRAM_BYTES];
        match read(&self.standard.input, &mut bytes) {
            Ok(0) => self.input_open = false,
            Ok(length) => {
                bytes.truncate(length);
                self.pending = bytes;
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(error) => return Err(Failure::of("standard input")(error.into())),
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), Failure> {
        if self.pending.is_empty() {
            return Ok(());
        }
        match self.socket.send(&self.pending) {
            Ok(length) => {
                self.sent += length as u64;
                self.pending.clear();
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(Failure::of("send")(error)),
        }
    }

    /// Writes out every datagram that has arrived.
    fn receive(&mut self) -> Result<(), Failure> {
        let mut bytes = vec![0; LARGEST_BYTES];
        loop {
            match nix::sys::socket::recv(
                std::os::fd::AsRawFd::as_raw_fd(self.socket),
                &mut bytes,
                nix::sys::socket::MsgFlags::MSG_DONTWAIT,
            ) {
                Ok(length) => self.write_out(&bytes[..length])?,
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(Failure::of("receive")(error.into())),
            }
        }
    }

    fn write_out(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        while !bytes.is_empty() {
            let output = self.standard.output.as_fd();
            ready(output, PollFlags::POLLOUT, None, self.signals)?;
            match write(output, &bytes[..bytes.len().min(CAREFUL_BYTES)]) {
                Ok(length) => {
                    self.received += length as u64;
                    bytes = &bytes[length..];
                }
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(error) => return Err(Failure::Output(error.into())),
            }
        }
        Ok(())
    }
}
