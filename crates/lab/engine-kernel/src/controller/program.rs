//! The program of a controller, from its start to its end.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mptcplab_link::Nanos;
use mptcplab_linux::describe;
use mptcplab_record::{Output, ProgramRun};
use mptcplab_segment::Decision;
use nix::poll::PollFlags;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::netns::NetNs;
use crate::pidfd;
use crate::record::Recorder;
use crate::traffic::{Stop, Wake, read_lines, wait};

/// Time that it has to end after it was asked to.
const GRACE: Duration = Duration::from_secs(1);
/// Interval of the checks whether its process group is empty.
const LOOK: Duration = Duration::from_millis(5);
/// Its name in the recording: as its flow, its node and its side.
const NAME: &str = "controller";

/// A program that runs. Whatever of it outlives [`Program::end`] outside of its process group ends
/// with the lab, as every process of the PID namespace does.
pub(super) struct Program {
    stop: Stop,
    thread: JoinHandle<()>,
    state: Arc<State>,
}

struct State {
    command: String,
    recorder: Recorder,
    /// Its status, once it has ended.
    ended: OnceLock<ExitStatus>,
    /// The last line that it wrote.
    last_line: Mutex<String>,
}

impl Program {
    /// Starts a program, whose name is `command`, in a namespace. Each line of its outputs becomes a
    /// row of the recording, and its run another one.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(super) fn start(
        mut program: Command,
        command: String,
        netns: &NetNs,
        recorder: &Recorder,
    ) -> io::Result<Self> {
        let refused = |error: io::Error| {
            let why = describe(&error);
            io::Error::other(format!("the controller `{command}` cannot be run: {why}"))
        };
        let child = netns.run(|| program.spawn())?.map_err(refused)?;
        let state = Arc::new(State {
            command,
            recorder: recorder.clone(),
            ended: OnceLock::new(),
            last_line: Mutex::default(),
        });
        let stop = Stop::new()?;
        let thread = thread::Builder::new().name(NAME.into()).spawn({
            let (state, stop) = (Arc::clone(&state), stop.clone());
            move || state.follow(child, &stop)
        })?;
        Ok(Self {
            stop,
            thread,
            state,
        })
    }

    /// The reason for which it can serve no switch, if it has failed. One that ends with status 0 may
    /// have left a daemon.
    pub(super) fn failure(&self) -> Option<String> {
        let status = self.state.ended.get().filter(|status| !status.success())?;
        let State {
            command, last_line, ..
        } = &*self.state;
        let last_line = last_line.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = format!(
            "the controller `{command}` ended before every switch was connected to it ({status})"
        );
        if !last_line.is_empty() {
            text += ": ";
            text += &last_line;
        }
        Some(text)
    }

    /// Ends it: with SIGTERM, and where that does not help within a second with SIGKILL. Nothing is
    /// left of its process group.
    pub(super) fn end(self) {
        self.stop.request("the run is over");
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

impl State {
    /// Reads what the program writes until it has ended, by itself or because of a stop.
    fn follow(&self, mut child: Child, stop: &Stop) {
        let start_ns = self.recorder.now();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let pipes = [
            ("stdout", stdout.map(OwnedFd::from)),
            ("stderr", stderr.map(OwnedFd::from)),
        ];
        let Ok(ended) = Stop::new() else {
            return self
                .recorder
                .warn("no file descriptors are left for the controller");
        };
        let result = thread::scope(|scope| {
            for (stream, pipe) in pipes {
                let ended = &ended;
                scope.spawn(move || {
                    pipe.map(|pipe| {
                        read_lines(File::from(pipe), ended, |line| self.write(stream, line))
                    })
                });
            }
            let result = self.attend(&mut child, start_ns, stop);
            ended.request("the program has ended");
            result
        });
        match result {
            // All that it wrote has been read. Nothing else sets it.
            Ok(Some(status)) => {
                let _ = self.ended.set(status);
            }
            Ok(None) => {}
            Err(error) => self.write_run(start_ns, &Err(error), false),
        }
    }

    /// Waits for the end of the program, or ends it when a stop is requested, and writes its run; gives
    /// its status where it has ended by itself. One that ends with status 0 may have left a daemon in
    /// its process group, which works on until the stop.
    fn attend(
        &self,
        child: &mut Child,
        start_ns: Nanos,
        stop: &Stop,
    ) -> io::Result<Option<ExitStatus>> {
        let group = Pid::from_raw(child.id() as i32);
        let process = pidfd::open(group)?;
        let gone = process.as_fd();
        let ready = Some((gone, PollFlags::POLLIN));
        if matches!(wait(ready, &[stop], None)?, Wake::Stopped(_)) {
            let status = end_group(child, group, gone)?;
            self.write_run(start_ns, &Ok(status), true);
            return Ok(None);
        }
        let status = status_of(group)?;
        self.write_run(start_ns, &Ok(status), false);
        if status.success() {
            wait(None, &[stop], None)?;
        }
        end_group(child, group, gone).map(Some)
    }

    fn write(&self, stream: &'static str, text: &str) {
        let row = Output {
            traffic: NAME,
            node: NAME,
            stream,
            t_ns: self.recorder.now(),
            text,
        };
        // Without a reader the run is about to end.
        self.recorder.write(row).ok();
        if !text.is_empty() {
            let mut last_line = self
                .last_line
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            text.clone_into(&mut last_line);
        }
    }

    fn write_run(&self, start_ns: Nanos, result: &io::Result<ExitStatus>, stopped: bool) {
        let status = result.as_ref().ok().filter(|_| !stopped);
        let row = ProgramRun {
            traffic: NAME,
            node: NAME,
            side: NAME,
            command: self.command.clone(),
            start_ns,
            end_ns: self.recorder.now(),
            ended: match (result, stopped) {
                (Err(_), _) => "failed",
                (Ok(_), true) => "stopped",
                (Ok(_), false) => "itself",
            },
            status: status.and_then(ExitStatus::code),
            signal: status.and_then(|status| status.signal()),
            error: result.as_ref().err().map(describe),
        };
        self.recorder.write(row).ok();
        let command = &self.command;
        match (status, result) {
            (Some(status), _) => {
                let label = format!("{command}: {status}");
                self.recorder.event(Decision::KIND, NAME, &label);
                if !status.success() {
                    let text = format!("the controller `{command}` ended by itself: {status}");
                    self.recorder.warn(&text);
                }
            }
            (None, Err(error)) => {
                let why = describe(error);
                let text = format!("the controller `{command}` could not be followed: {why}");
                self.recorder.warn(&text);
            }
            (None, Ok(_)) => {}
        }
    }
}

/// The status of a process that has ended, which is left to be waited for: until then its number stays
/// its own.
fn status_of(process: Pid) -> io::Result<ExitStatus> {
    let how = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    // As wait(2) has it.
    let raw = match waitid(Id::Pid(process), how)? {
        WaitStatus::Exited(_, code) => code << 8,
        WaitStatus::Signaled(_, signal, _) => signal as i32,
        other => return Err(io::Error::other(format!("{other:?}"))),
    };
    Ok(ExitStatus::from_raw(raw))
}

/// Ends a program, if it has not ended, and its process group: with SIGTERM, and what is left after
/// the grace with SIGKILL.
fn end_group(child: &mut Child, group: Pid, gone: BorrowedFd<'_>) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + GRACE;
    // It may have gone meanwhile.
    let _ = killpg(group, Signal::SIGTERM);
    wait(Some((gone, PollFlags::POLLIN)), &[], Some(deadline))?;
    if let Some(status) = child.try_wait()? {
        while Instant::now() < deadline && killpg(group, None).is_ok() {
            thread::sleep(LOOK);
        }
        let _ = killpg(group, Signal::SIGKILL);
        return Ok(status);
    }
    let _ = killpg(group, Signal::SIGKILL);
    child.wait()
}
