//! A policy of the controller in Python: a program of the run, which the emulator's thread asks for the
//! path of each subflow by a socket. Requests and answers are lines of JSON; the links wait meanwhile.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use mptcplab_controller::{Answer, PathView, Policy, Request, told};
use nix::poll::PollFlags;
use serde::{Deserialize, Serialize};

use super::program::Program;
use crate::netns::NetNs;
use crate::plan::Plan;
use crate::record::Recorder;
use crate::traffic::{PYTHON, Stop, Wake, piped, wait};

/// The environment variable with the folder of the package `mptcplab`.
const PACKAGES: &str = "MPTCPLAB_PACKAGES";
/// The program of a policy, for Python; its argument is the folder of the package.
const CODE: &str = "import sys; sys.path.append(sys.argv[1]); \
    from mptcplab.policy.program import main; main()";
/// Time in which the program answers; it takes ten seconds itself for a function that does not.
const PATIENCE: Duration = Duration::from_secs(20);

/// The failure of a policy, which ends the run.
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<OnceLock<String>>);

impl Failure {
    /// The failure, where there is one.
    ///
    /// # Errors
    /// The failure.
    pub fn check(&self) -> io::Result<()> {
        match self.0.get() {
            Some(text) => Err(io::Error::other(text.clone())),
            None => Ok(()),
        }
    }
}

/// The policy in Python of a plan, whose program is to be started.
pub struct PlannedPolicy {
    name: String,
    source: String,
    channel: Channel,
    theirs: OwnedFd,
    netns: NetNs,
    failure: Failure,
}

/// The program of a policy. It ends before its socket does, and so never by itself.
pub struct PolicyProgram {
    program: Program,
    _channel: Channel,
}

impl PolicyProgram {
    /// Ends it: nothing of it is left.
    pub fn end(self) {
        self.program.end();
    }
}

/// The first line that the program gets.
#[derive(Serialize)]
struct Text<'a> {
    name: &'a str,
    source: &'a str,
}

/// A line of the program.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// The answer to a request; 0 to the first line.
    Answer(i64),
    /// The file or the function does something wrong.
    Error(String),
}

impl PlannedPolicy {
    /// The policy of a plan that has one in Python. Its program gets a namespace of its own.
    ///
    /// # Errors
    /// When the kernel refuses the namespace, or there are no file descriptors left.
    pub fn of(plan: &Plan) -> io::Result<Option<Self>> {
        let planned = plan.controller.as_ref();
        let named = planned.and_then(|one| Some((one.policy.clone()?, one.policy_source.clone()?)));
        let Some((name, source)) = named else {
            return Ok(None);
        };
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(PATIENCE))?;
        ours.set_write_timeout(Some(PATIENCE))?;
        Ok(Some(Self {
            name,
            source,
            channel: Channel(BufReader::new(ours)),
            theirs: theirs.into(),
            netns: NetNs::create()?,
            failure: Failure::default(),
        }))
    }

    /// The policy for the controller, which asks the program once that has been started.
    ///
    /// # Errors
    /// When there are no file descriptors left.
    pub fn asked(&self) -> io::Result<impl FnOnce(u64) -> Box<dyn Policy> + use<>> {
        let channel = self.channel.try_clone()?;
        let (name, failure) = (self.name.clone(), self.failure.clone());
        Ok(move |seed| -> Box<dyn Policy> {
            Box::new(ProgramPolicy {
                name,
                seed,
                channel,
                failure,
                waits: false,
            })
        })
    }

    /// Its failure, now or later.
    pub fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// The namespace of the program.
    pub fn netns(&self) -> &NetNs {
        &self.netns
    }

    /// Starts the program, and waits until it has loaded the file, or for a stop.
    ///
    /// # Errors
    /// When there is no Python, or the file does something wrong.
    pub fn start(mut self, recorder: &Recorder, stop: &Stop) -> io::Result<PolicyProgram> {
        let variable = |name: &str| {
            let text = || format!("the environment lacks {name} for the policy");
            std::env::var(name).map_err(|_| io::Error::other(text()))
        };
        // Neither modules beside the caller, nor its input.
        let words = [&variable(PYTHON)?, "-P", "-c", CODE, &variable(PACKAGES)?];
        let mut command: Command = piped(&words.map(str::to_owned))?;
        command.stdin(self.theirs);
        let program = Program::start(command, self.name.clone(), &self.netns, recorder)?;
        let text = Text {
            name: &self.name,
            source: &self.source,
        };
        let loaded = self.channel.send(&text).and_then(|()| {
            let readable = (self.channel.0.get_ref().as_fd(), PollFlags::POLLIN);
            match wait(Some(readable), &[stop], Some(Instant::now() + PATIENCE))? {
                Wake::Stopped(_) => Ok(()),
                Wake::Ready | Wake::Deadline => self.channel.receive(&self.name).map(drop),
            }
        });
        match loaded {
            Ok(()) => Ok(PolicyProgram {
                program,
                _channel: self.channel,
            }),
            Err(error) => {
                program.end();
                Err(error)
            }
        }
    }
}

/// Our end of the socket.
struct Channel(BufReader<UnixStream>);

impl Channel {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(BufReader::new(self.0.get_ref().try_clone()?)))
    }

    /// Sends a line.
    fn send(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.0.get_mut().write_all(&line)
    }

    /// The number with which the program of the policy `name` answers.
    fn receive(&mut self, name: &str) -> io::Result<i64> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line);
        match read.map(|_| serde_json::from_str(&line)) {
            Ok(Ok(Said::Answer(number))) => Ok(number),
            Ok(Ok(Said::Error(text))) => Err(io::Error::other(text)),
            Ok(Err(_)) | Err(_) => Err(io::Error::other(format!(
                "{name}: the program of the policy has ended or does not answer: the function must \
                 leave the process alone"
            ))),
        }
    }
}

/// A policy as the controller has it. Once it has failed it is asked no more.
struct ProgramPolicy {
    name: String,
    seed: u64,
    channel: Channel,
    failure: Failure,
    /// Whether the last answer was to wait.
    waits: bool,
}

impl Policy for ProgramPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        self.waits = false;
        self.failure.check().ok()?;
        let answer = self.ask(request).unwrap_or_else(|error| {
            // The first failure counts.
            let _ = self.failure.0.set(error.to_string());
            Answer::Refused
        });
        self.waits = answer == Answer::Waits;
        match answer {
            Answer::Path(path) => Some(path),
            Answer::Refused | Answer::Waits => None,
        }
    }

    fn waits(&mut self, _request: &Request<'_>) -> bool {
        self.waits
    }
}

impl ProgramPolicy {
    fn ask<'a>(&mut self, request: &Request<'a>) -> io::Result<Answer<'a>> {
        self.channel.send(&told(request, self.seed))?;
        let number = self.channel.receive(&self.name)?;
        Answer::read(number, request).map_err(io::Error::other)
    }
}
