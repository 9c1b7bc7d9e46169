//! `-z`: which ports answer.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::PollFlags;

use crate::connect::connect;
use crate::failure::Failure;
use crate::options::{Options, Protocol};
use crate::report::Report;
use crate::signals::Signals;
use crate::stream::Stream;
use crate::waiting::{deadline, ready};

/// How long the refusal of a datagram may take, unless `-w` says.
const REFUSAL: Duration = Duration::from_secs(1);

/// Tries each port; good where one of them answers.
///
/// A port of UDP counts as open unless its host refuses.
///
/// # Errors
/// Why the last port did not answer, where none did; a signal.
pub(crate) fn scan(
    options: &Options,
    host: &str,
    report: &Report,
    signals: &Signals,
) -> Result<(), Failure> {
    let (mut open, mut last) = (false, None);
    for &port in &options.ports {
        let tried = connect(options, host, port, report, signals).and_then(|stream| {
            if options.protocol == Protocol::Udp {
                provoke(&stream, options, signals)?;
            }
            Ok(())
        });
        match tried {
            Ok(()) => {
                open = true;
                let name = options.protocol.name();
                report.info(&format!("{host} port {port} ({name}) is open"));
            }
            Err(signal @ Failure::Signal(_)) => return Err(signal),
            Err(failure) => {
                if let Some(earlier) = last.replace(failure) {
                    report.verbose(&earlier.to_string());
                }
            }
        }
    }
    match last {
        Some(failure) if !open => Err(failure),
        Some(failure) => {
            report.verbose(&failure.to_string());
            Ok(())
        }
        None => Ok(()),
    }
}

/// Sends two datagrams: a closed port's refusal of the first may be lost.
fn provoke(stream: &Stream, options: &Options, signals: &Signals) -> Result<(), Failure> {
    let socket = &stream.socket;
    let refused = |error: io::Error| Failure::of(stream.peer.clone())(error);
    for _ in 0..2 {
        socket.send(b"X").map_err(refused)?;
        let until = deadline(Some(options.timeout().unwrap_or(REFUSAL) / 2));
        ready(socket.as_fd(), PollFlags::POLLIN, until, signals)?;
        if let Some(error) = socket.take_error().map_err(refused)? {
            return Err(refused(error));
        }
    }
    Ok(())
}
