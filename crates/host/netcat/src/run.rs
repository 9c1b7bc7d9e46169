//! The command from its options to its exit status.

use std::io::{Write, stderr};

use mptcplab_subflow::Managers;

use crate::connect::connect;
use crate::datagrams;
use crate::descriptor::Standard;
use crate::failure::Failure;
use crate::listen::{accept, listen};
use crate::options::{Options, Protocol};
use crate::report::Report;
use crate::scan::scan;
use crate::session::{SessionOptions, carry};
use crate::signals::Signals;
use crate::stream::Stream;
use crate::subflows::{Handle, supervise};

/// Runs the command with this process's standard input, output and error, and gives its exit
/// status: 0; 1 with a message after a failure; 128 and its number after a signal.
pub fn run(options: &Options) -> i32 {
    let (standard, report) = match begin(options) {
        Ok(begun) => begun,
        Err(failure) => {
            let _ = writeln!(stderr(), "nc: {failure}");
            return failure.status();
        }
    };
    match run_with(options, standard, &report) {
        Ok(()) => 0,
        Err(failure) => {
            match &failure {
                Failure::Signal(_) => report.verbose(&failure.to_string()),
                other => report.info(&other.to_string()),
            }
            failure.status()
        }
    }
}

/// Opens standard input and output, before any other descriptor could take the number of one that is
/// closed; a scan needs neither. Then the report.
fn begin(options: &Options) -> Result<(Option<Standard>, Report), Failure> {
    let standard = (!options.scan).then(Standard::open).transpose()?;
    Ok((standard, Report::new(options)?))
}

fn run_with(options: &Options, standard: Option<Standard>, report: &Report) -> Result<(), Failure> {
    let signals = Signals::catch().map_err(|error| Failure::of("signals")(error))?;
    let host = options.host.as_deref().unwrap_or("localhost");
    let Some(standard) = standard else {
        return scan(options, host, report, &signals);
    };
    let Some(&port) = options.ports.first() else {
        return Err(Failure::Sentence("no port to connect to".to_owned()));
    };
    let managers = managers(options, report);
    if options.listen {
        serve(
            options,
            port,
            &standard,
            managers.as_ref(),
            report,
            &signals,
        )?;
    } else {
        let stream = connect(options, host, port, report, &signals)?;
        handle(
            &stream,
            options,
            &standard,
            managers.as_ref(),
            report,
            &signals,
        )?;
    }
    standard.close()
}

/// Serves one client, or one after the other.
fn serve(
    options: &Options,
    port: u16,
    standard: &Standard,
    managers: Option<&Managers>,
    report: &Report,
    signals: &Signals,
) -> Result<(), Failure> {
    let (listener, protocol) = listen(options, port, report)?;
    if protocol == Protocol::Udp {
        if !options.keep {
            datagrams::meet(&listener, report, signals)?;
        }
        let stream = Stream {
            socket: listener,
            peer: "datagrams".to_owned(),
        };
        return handle(&stream, options, standard, managers, report, signals);
    }
    if protocol == Protocol::Tcp && !options.keep {
        let stream = accept(&listener, signals)?;
        // Further clients are refused. Subflows of MPTCP would be, too: they need the listener.
        drop(listener);
        report.verbose(&format!("connection from {}", stream.peer));
        return handle(&stream, options, standard, managers, report, signals);
    }
    loop {
        let stream = accept(&listener, signals)?;
        report.verbose(&format!("connection from {}", stream.peer));
        let result = handle(&stream, options, standard, managers, report, signals);
        if !options.keep {
            return result;
        }
        match result {
            // The next client may succeed.
            Err(failure @ (Failure::Io { .. } | Failure::Sentence(_))) => {
                report.info(&failure.to_string());
            }
            other => other?,
        }
    }
}

/// Handles one connection from beginning to end.
fn handle(
    stream: &Stream,
    options: &Options,
    standard: &Standard,
    managers: Option<&Managers>,
    report: &Report,
    signals: &Signals,
) -> Result<(), Failure> {
    if options.protocol == Protocol::Udp {
        let sends = options.reads_input && !(options.listen && options.keep);
        let ended = datagrams::carry(&stream.socket, standard, options, sends, signals);
        report.account(&stream.peer, &ended, None)?;
        return ended.result;
    }
    let session = SessionOptions {
        listen: options.listen,
        reads_input: options.reads_input,
        half_close: options.half_close,
        quit_after: options.quit_after(),
        idle: options.timeout(),
    };
    let copy = |supervisor: Option<&Handle>| carry(stream, standard, session, signals, supervisor);
    let (ended, mut subflows) = if options.protocol == Protocol::Mptcp && report.wants_subflows() {
        supervise(stream, &options.subflows, managers, report, copy)
    } else {
        (copy(None), None)
    };
    if let Some(account) = &mut subflows {
        account.compare(ended.sent, ended.received);
    }
    if options.protocol == Protocol::Mptcp && matches!(ended.result, Err(Failure::Signal(_))) {
        stream.abort_if_acknowledged();
    }
    report.account(&stream.peer, &ended, subflows.as_ref())?;
    ended.result
}

/// Opens the managers of subflows, where any are wanted.
///
/// A listener has one in any case, if it may: without a subscriber to the events of the userspace
/// path manager, the kernel resets each subflow that wants to join.
fn managers(options: &Options, report: &Report) -> Option<Managers> {
    if options.protocol != Protocol::Mptcp || options.scan {
        return None;
    }
    let wanted = options.subflows.any();
    if !wanted && !options.listen && !report.wants_subflows() {
        return None;
    }
    match Managers::open() {
        Ok(managers) => Some(managers),
        Err(error) => {
            if wanted {
                report.info(&format!("no subflows: {error}"));
            }
            None
        }
    }
}
