//! Programs that run inside a node.

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::lines::Lines;
use super::shim;
use super::stop::{Stop, Wake, wait};
use crate::pidfd;
use crate::plan::Protocol;
use crate::telemetry::NodeContext;
use mptcplab_kernel::describe;

/// Time that a program has to end after it was asked to.
const GRACE: Duration = Duration::from_secs(1);
const READ_LENGTH: usize = 16 * 1024;

/// Where a program of an item runs: at its client or at its server.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) node: &'a NodeContext,
    pub(super) congestion_control: &'a str,
}

/// A program, and what its TCP sockets are.
pub(super) struct Program<'a> {
    pub(super) site: Site<'a>,
    pub(super) argv: &'a [String],
    pub(super) protocol: Protocol,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// By itself.
    Itself(ExitStatus),
    /// Its time was over.
    Deadline,
    /// A stop was requested.
    Stopped,
}

/// Which of its outputs a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Program<'_> {
    /// Runs the program to its end, to `deadline` or to a stop, whichever is first, with each line
    /// of its outputs given to `each`. Then nothing of its process group is left.
    ///
    /// # Errors
    /// When it cannot be started or watched.
    pub(super) fn run(
        &self,
        stops: &[&Stop],
        deadline: Option<Instant>,
        each: impl Fn(Stream, &str) + Sync,
    ) -> io::Result<Exit> {
        let ended = Stop::new()?;
        let (mut child, listener) = self.site.node.netns.run(|| self.spawn())??;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let supervision = Mutex::new(Ok(()));
        let exit = thread::scope(|scope| {
            scope.spawn(|| {
                let result = self.site.node.netns.enter().and_then(|()| {
                    shim::supervise(
                        &listener,
                        self.protocol,
                        self.site.congestion_control,
                        &ended,
                    )
                });
                if let Ok(mut supervision) = supervision.lock() {
                    *supervision = result;
                }
            });
            scope.spawn(|| {
                stdout.map(|pipe| read_lines(pipe, &ended, |line| each(Stream::Stdout, line)))
            });
            scope.spawn(|| {
                stderr.map(|pipe| read_lines(pipe, &ended, |line| each(Stream::Stderr, line)))
            });
            let exit = follow(&mut child, stops, deadline);
            ended.request("the program has ended");
            exit
        });
        supervision.into_inner().unwrap_or(Ok(()))?;
        exit
    }

    /// Starts the program in the calling thread's namespace, under the filter of the shim.
    fn spawn(&self) -> io::Result<(Child, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        let (program, arguments) = self.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let channel = theirs.as_raw_fd();
        // SAFETY: `install` only makes system calls, on memory that exists already.
        unsafe { command.pre_exec(move || shim::install(channel)) };
        let mut child = command.spawn().map_err(name_refusal)?;
        let listener = shim::receive_listener(&ours);
        if listener.is_err() {
            // Without a supervisor its first socket call would wait for ever.
            let _ = child.kill().and_then(|()| child.wait());
        }
        Ok((child, listener?))
    }
}

/// Tells a refused filter from a program that cannot be executed: both come from the same call.
fn name_refusal(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EBUSY | libc::EINVAL) => io::Error::other(format!(
            "the kernel or container refuses a supervised seccomp filter ({})",
            describe(&error)
        )),
        _ => error,
    }
}

/// Waits for the end of a program, and sees to it where it is due.
fn follow(child: &mut Child, stops: &[&Stop], deadline: Option<Instant>) -> io::Result<Exit> {
    let group = Pid::from_raw(child.id() as i32);
    let process = pidfd::open(group)?;
    let gone = Some((process.as_fd(), PollFlags::POLLIN));
    let wake = wait(gone, stops, deadline)?;
    if wake != Wake::Ready {
        // It may have gone meanwhile; until it is waited for, its number stays its own.
        let _ = killpg(group, Signal::SIGTERM);
        wait(gone, &[], Some(Instant::now() + GRACE))?;
    }
    let _ = killpg(group, Signal::SIGKILL);
    let status = child.wait()?;
    Ok(match wake {
        Wake::Ready => Exit::Itself(status),
        Wake::Deadline => Exit::Deadline,
        Wake::Stopped(_) => Exit::Stopped,
    })
}

/// Reads lines to the end of the output, or until nothing is left of it after the program's end: a
/// daemon that it left behind may hold the pipe open.
fn read_lines(mut pipe: impl Read + AsFd, ended: &Stop, mut each: impl FnMut(&str)) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; READ_LENGTH];
    loop {
        let readable = |pipe| Some((pipe, PollFlags::POLLIN));
        let ready = match wait(readable(pipe.as_fd()), &[ended], None) {
            Ok(Wake::Stopped(_)) => wait(readable(pipe.as_fd()), &[], Some(Instant::now())),
            other => other,
        };
        if !matches!(ready, Ok(Wake::Ready)) {
            break;
        }
        match pipe.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(length) => lines.push(&buffer[..length], &mut each),
        }
    }
    lines.finish(each);
}
