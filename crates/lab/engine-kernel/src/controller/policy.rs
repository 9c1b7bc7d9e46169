//! A policy of the controller in Python: a program of the run, which the emulator's thread asks for the
//! path of each subflow by a socket. Requests and answers are lines of JSON; the links wait meanwhile.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
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
            channel: Channel::new(ours),
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
        let channel = Arc::new(Mutex::new(self.channel.try_clone()?));
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

    /// Starts the program, and waits until it has loaded the file, or for a stop: it is asked nothing
    /// then.
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
        match self.channel.load(&text, stop) {
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
struct Channel {
    stream: BufReader<UnixStream>,
    /// Whether the answer to the first line has been read: the next one would be taken for it.
    is_loaded: Arc<AtomicBool>,
}

impl Channel {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream: BufReader::new(stream),
            is_loaded: Arc::default(),
        }
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            stream: BufReader::new(self.stream.get_ref().try_clone()?),
            is_loaded: Arc::clone(&self.is_loaded),
        })
    }

    /// Sends the first line, and waits for the answer to it, or for a stop.
    fn load(&mut self, text: &Text<'_>, stop: &Stop) -> io::Result<()> {
        self.send(text)?;
        let readable = (self.stream.get_ref().as_fd(), PollFlags::POLLIN);
        match wait(Some(readable), &[stop], Some(Instant::now() + PATIENCE))? {
            Wake::Stopped(_) => {}
            Wake::Ready | Wake::Deadline => {
                self.receive(text.name)?;
                self.is_loaded.store(true, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Whether the program has loaded the file, and can be asked.
    fn is_loaded(&self) -> bool {
        self.is_loaded.load(Ordering::Acquire)
    }

    /// Sends a line.
    fn send(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)
    }

    /// The number with which the program of the policy `name` answers.
    fn receive(&mut self, name: &str) -> io::Result<i64> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
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

/// A policy as the controller has it. It is asked nothing where a stop came before its file was
/// loaded, and no more once it has failed.
#[derive(Clone)]
struct ProgramPolicy {
    name: String,
    seed: u64,
    channel: Arc<Mutex<Channel>>,
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
        if !self.channel().is_loaded() {
            return None;
        }
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
    fn channel(&self) -> MutexGuard<'_, Channel> {
        self.channel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<'a>(&self, request: &Request<'a>) -> io::Result<Answer<'a>> {
        let mut channel = self.channel();
        channel.send(&told(request, self.seed))?;
        let number = channel.receive(&self.name)?;
        Answer::read(number, request).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use mptcplab_controller::{Flow, Link, PortRef};

    use super::*;

    fn path(port: u32) -> PathView {
        PathView {
            links: vec![Link {
                from: PortRef::new(1, port),
                to: PortRef::new(2, port),
            }],
            bandwidth_bps: None,
            delay_ns: None,
            queueing_ns: 0,
            is_busy: false,
            load_bps: 0,
            subflows: 0,
            new_subflows: 0,
        }
    }

    #[test]
    fn the_answer_to_the_first_line_is_not_taken_for_that_to_a_request() {
        let flow = Flow {
            source: IpAddr::from([10, 0, 0, 1]),
            destination: IpAddr::from([10, 0, 0, 2]),
            protocol: 6,
            source_port: 1000,
            destination_port: 80,
        };
        let paths = [1, 2].map(path);
        let request = Request {
            connection: flow,
            flow,
            is_multipath: true,
            is_moved: false,
            bytes: None,
            carried_bytes: 0,
            subflows: &[],
            disjoint: &paths,
            equal_cost: &paths[..1],
        };
        let text = Text {
            name: "own",
            source: "",
        };
        for (is_stopped, expected) in [(false, Some(&paths[1])), (true, None)] {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let mut channel = Channel::new(ours);
            let mut policy = ProgramPolicy {
                name: text.name.to_owned(),
                seed: 0,
                channel: Arc::new(Mutex::new(channel.try_clone().unwrap())),
                failure: Failure::default(),
                waits: false,
            };
            let stop = Stop::new().unwrap();
            let loaded = b"{\"answer\": 0}\n";
            match is_stopped {
                true => stop.request("interrupted"),
                false => theirs.write_all(loaded).unwrap(),
            }
            channel.load(&text, &stop).unwrap();
            if is_stopped {
                theirs.write_all(loaded).unwrap();
            }
            theirs.write_all(b"{\"answer\": 1}\n").unwrap();
            assert_eq!(policy.choose(&request), expected);
            assert!(policy.failure.check().is_ok());
        }
    }
}
