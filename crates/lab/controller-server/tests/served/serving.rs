//! A server in a thread, and the lines that it prints.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use mptcplab_controller_server::{Config, Form, Journal, Limits, Server};

/// Time after which a line that has not come does not come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Serving {
    pub(crate) address: SocketAddr,
    lines: Lines,
    stop: OwnedFd,
    thread: JoinHandle<io::Result<()>>,
}

/// An output that keeps what is written.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A server on the loopback with plain TCP.
pub(crate) fn config() -> Config {
    Config {
        listen: "127.0.0.1:0".parse().expect("an address"),
        tls: None,
        plain_tcp: false,
        policy: "disjoint".to_owned(),
        link_rates: Vec::new(),
        sizes: Vec::new(),
        learn_sizes: false,
        tcp_fallback: false,
        link_probe_ns: None,
        limits: Limits::default(),
        http: None,
    }
}

impl Serving {
    pub(crate) fn start(config: &Config) -> Self {
        let mut server = Server::bind(config).expect("a server");
        let address = server.local_addr().expect("an address");
        let lines = Lines::default();
        let mut journal = Journal::start(Form::Text, lines.clone()).expect("a journal");
        let (stopped, stop) = rustix::pipe::pipe().expect("a pipe");
        let thread = thread::spawn(move || {
            server.run(stopped, |t_ns, report| journal.take(t_ns, report))?;
            journal.end()
        });
        Self {
            address,
            lines,
            stop,
            thread,
        }
    }

    /// The lines so far, without their times.
    pub(crate) fn lines(&self) -> Vec<String> {
        let written = self.lines.0.lock().expect("no panic");
        let written = String::from_utf8_lossy(&written);
        let lines = written.lines();
        let without_time = lines.filter_map(|line| Some(line.split_once(' ')?.1.to_owned()));
        without_time.collect()
    }

    pub(crate) fn count(&self, begin: &str) -> usize {
        let lines = self.lines();
        lines.iter().filter(|line| line.starts_with(begin)).count()
    }

    /// Waits until so many lines have begun like that; meanwhile `act` goes on.
    pub(crate) fn wait(&self, begin: &str, count: usize, mut act: impl FnMut()) {
        let begun = Instant::now();
        while self.count(begin) < count {
            act();
            sleep(Duration::from_millis(1));
            let lines = self.lines();
            assert!(begun.elapsed() < PATIENCE, "{count} of {begin}: {lines:#?}");
        }
    }

    /// Ends the server, and gives its lines.
    pub(crate) fn end(self) -> Vec<String> {
        drop(self.stop);
        let ended = self.thread.join().expect("no panic");
        ended.expect("no error");
        let written = self.lines.0.lock().expect("no panic");
        let written = String::from_utf8_lossy(&written);
        written.lines().map(str::to_owned).collect()
    }
}
