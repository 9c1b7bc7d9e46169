//! Programs that run inside a node.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::lines::Lines;
use super::notification::Listener;
use super::shim::{self, Supervisor};
use super::stop::{Stop, Wake, wait, wait_on};
use super::watch::Watch;
use crate::pidfd;
use crate::plan::Protocol;
use crate::record::Recorder;
use crate::telemetry::NodeContext;
use crate::telemetry::accounts::Owner;
use mptcplab_link::Nanos;
use mptcplab_linux::describe;

/// Time that a program has to end after it was asked to, and a daemon to leave its group.
const GRACE: Duration = Duration::from_secs(1);
const READ_LENGTH: usize = 16 * 1024;

/// The place of a program of a flow: its client or its server.
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
    /// It may leave a daemon behind that does its work (`daemon(3)`).
    pub(super) may_be_daemon: bool,
    /// The flow that it belongs to.
    pub(super) owner: &'a Owner,
    pub(super) recorder: &'a Recorder,
}

/// The end of a program.
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
    /// of its outputs given to `each`; tells when that was. Then nothing of its process group is
    /// left.
    ///
    /// # Errors
    /// When it cannot be started or watched.
    pub(super) fn run(
        &self,
        stops: &[&Stop],
        deadline: Option<Instant>,
        each: impl Fn(Stream, &str) + Sync,
    ) -> io::Result<(Exit, Nanos)> {
        let ended = Stop::new()?;
        let (ours, theirs) = UnixStream::pair()?;
        let accounts = &self.site.node.accounts;
        accounts.book(|book| book.program_started(self.owner, self.recorder.now()));
        let result = thread::scope(|scope| {
            // It answers from the first call on: the program's process may make some before it is
            // the program, and until then it is not known to have started.
            let supervision = scope.spawn(|| {
                let supervisor = self.supervisor(shim::receive_listener(&ours)?);
                self.site.node.netns.enter()?;
                let gone = supervisor.serve(&[&ended])?;
                io::Result::Ok((!gone).then_some(supervisor))
            });
            let spawned = self.site.node.netns.run(|| self.spawn(theirs));
            let exit = spawned.and_then(|child| child).and_then(|mut child| {
                let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
                for (stream, pipe) in [
                    (Stream::Stdout, stdout.map(OwnedFd::from)),
                    (Stream::Stderr, stderr.map(OwnedFd::from)),
                ] {
                    let (each, ended) = (&each, &ended);
                    scope.spawn(move || {
                        pipe.map(|pipe| {
                            read_lines(File::from(pipe), ended, |line| each(stream, line))
                        })
                    });
                }
                self.follow(&mut child, stops, deadline)
            });
            ended.request("the program has ended");
            let supervised = supervision.join();
            (
                exit,
                supervised.unwrap_or_else(|panic| resume_unwind(panic)),
            )
        });
        accounts.book(|book| book.program_ended(self.owner, self.recorder.now()));
        let (exit, supervised) = result;
        let exit = exit?;
        if let Some(supervisor) = supervised? {
            // A daemon that it left behind has its calls answered for as long as it lives.
            let netns = self.site.node.netns.clone();
            thread::spawn(move || netns.enter().and_then(|()| supervisor.serve(&[])));
        }
        Ok(exit)
    }

    fn supervisor(&self, listener: Listener) -> Supervisor {
        Supervisor {
            listener,
            protocol: self.protocol,
            congestion_control: self.site.congestion_control.to_owned(),
            watch: Watch {
                owner: self.owner.clone(),
                node: self.site.node.clone(),
                recorder: self.recorder.clone(),
            },
        }
    }

    /// Starts the program in the calling thread's namespace, under the filter of the shim, whose
    /// listener it sends through `channel`.
    fn spawn(&self, channel: UnixStream) -> io::Result<Child> {
        let mut command = piped(self.argv)?;
        let descriptor = channel.as_raw_fd();
        // SAFETY: `install` only makes system calls, on memory that exists already.
        unsafe { command.pre_exec(move || shim::install(descriptor)) };
        command.spawn().map_err(name_refusal)
    }

    /// Waits for the end of the program, and sees to it where it is due.
    fn follow(
        &self,
        child: &mut Child,
        stops: &[&Stop],
        deadline: Option<Instant>,
    ) -> io::Result<(Exit, Nanos)> {
        let group = Pid::from_raw(child.id() as i32);
        let process = pidfd::open(group)?;
        let gone = Some((process.as_fd(), PollFlags::POLLIN));
        let wake = wait_on(self.recorder.clock(), gone, stops, deadline)?;
        if wake != Wake::Ready {
            // It may have gone meanwhile; until it is waited for, its number stays its own.
            self.kill(group, Signal::SIGTERM);
            wait(gone, &[], Some(Instant::now() + GRACE))?;
        }
        let end_ns = self.recorder.now();
        if wake == Wake::Ready && self.may_be_daemon {
            // A daemon leaves the group after its parent has ended.
            wait(None, stops, Some(Instant::now() + GRACE))?;
        }
        self.kill(group, Signal::SIGKILL);
        let status = child.wait()?;
        let exit = match wake {
            Wake::Ready => Exit::Itself(status),
            Wake::Deadline => Exit::Deadline,
            Wake::Stopped(_) => Exit::Stopped,
        };
        Ok((exit, end_ns))
    }

    /// Sends a signal to a process group, after a reading of the node's sockets: it makes no call of
    /// close(2) at which they could be read, and the kernel's notice of a socket's end may come when
    /// the accounts have been written.
    fn kill(&self, group: Pid, signal: Signal) {
        let node = self.site.node;
        node.accounts.look(node, self.recorder);
        let _ = killpg(group, signal);
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

/// A program with its arguments, in a process group of its own, without input, its outputs in pipes.
///
/// # Errors
/// When there is no word.
pub(crate) fn piped(argv: &[String]) -> io::Result<Command> {
    let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(command)
}

/// Reads lines to the end of the output, or until nothing is left of it after the program's end: a
/// daemon that it left behind may hold the pipe open.
pub(crate) fn read_lines(mut pipe: impl Read + AsFd, ended: &Stop, mut each: impl FnMut(&str)) {
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
