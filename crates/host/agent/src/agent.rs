//! The agent: one thread measures, another one sends.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_measure::authorisation::random;
use mptcplab_measure::steps::Chance;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::Error;
use crate::api::{Api, NotEnrolled, Trouble, enrol};
use crate::backoff::Backoff;
use crate::caps::Caps;
use crate::enrolment::Enrolment;
use crate::measuring::Measuring;
use crate::sending::Sending;
use crate::shared::{Log, Shared};
use crate::store::{Identity, Store};

/// Tries to enrol or to send, of an agent that ends once all is sent.
const MOST_TRIES: u32 = 4;
/// Time between two of them, at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// All that an agent is told.
pub struct Config {
    /// The folder that it keeps everything in.
    pub folder: PathBuf,
    /// The token that takes it in, where it has one.
    pub enrolment: Option<Enrolment>,
    /// Its name at the server.
    pub name: String,
    /// Limits of its spool.
    pub caps: Caps,
    /// Time between two contacts, at most.
    pub contact_interval: Duration,
    /// It carries out each plan once, sends all, and ends.
    pub is_once: bool,
    /// The command of a process that holds endpoints (see
    /// [`hold_until_end_of_input`](crate::hold_until_end_of_input)); none: they are left as they are.
    pub hold: Option<Vec<OsString>>,
    /// Tells a line.
    pub log: Log,
}

/// Runs an agent until `stop` is readable.
///
/// # Errors
/// A folder that cannot be used, an enrolment that is wanted or is refused, and for
/// [`Config::is_once`] what could not be sent.
pub fn run(config: &Config, stop: impl AsFd + Send + 'static) -> Result<(), Error> {
    let store = Store::open(&config.folder, config.caps)?;
    let shared = Arc::new(Shared::new(store, config.log));
    // The folder is another agent's once this one has ended.
    let waiting = Arc::downgrade(&shared);
    // It ends with the process.
    thread::spawn(move || {
        let mut ready = [PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
        while !matches!(poll(&mut ready, PollTimeout::NONE), Ok(1..)) {}
        if let Some(shared) = waiting.upgrade() {
            shared.stop();
        }
    });
    let Some(identity) = identity(config, &shared)? else {
        return Ok(());
    };
    let sending = Sending::new(&shared, Api::new(&identity)?, config.contact_interval);
    let measuring = Measuring {
        shared: &shared,
        agent: &identity.agent,
        hold: config.hold.as_deref(),
    };
    match config.is_once {
        true => once(&shared, &measuring, sending),
        false => {
            always(&shared, &measuring, sending);
            Ok(())
        }
    }
}

/// The agent's identity, by an enrolment now where there was none; none where it was stopped
/// meanwhile.
fn identity(config: &Config, shared: &Shared) -> Result<Option<Identity>, Error> {
    let known = shared.lock().store.identity()?;
    if let Some(mut identity) = known {
        if let Some(enrolment) = &config.enrolment {
            let url = &identity.server.url;
            if !enrolment.server.is_same(&identity.server)? {
                return Err(Error::Refused(format!(
                    "the token is of another server than {url}, where this agent is enrolled, or \
                     of a new certificate of it: give it an empty folder to enrol it anew"
                )));
            }
            if enrolment.server != identity.server {
                identity.server = enrolment.server.clone();
                shared.lock().store.set_identity(&identity)?;
            }
        }
        let url = &identity.server.url;
        (shared.log)(&format!("agent {} of {url}", identity.agent));
        return Ok(Some(identity));
    }
    let Some(enrolment) = &config.enrolment else {
        return Err(Error::Refused(format!(
            "{}: this agent is not enrolled: give it a token",
            config.folder.display()
        )));
    };
    if shared.lock().store.ledger.next_sequence > 0 {
        return Err(Error::Folder(format!(
            "{}: has results of another agent: give this one an empty folder",
            config.folder.display()
        )));
    }
    // A token is good for few agents: it is not used where its answer could not be kept.
    shared.lock().store.save()?;
    let Some(identity) = enrolled(config, enrolment, shared)? else {
        return Ok(None);
    };
    shared.lock().store.set_identity(&identity)?;
    let url = &identity.server.url;
    (shared.log)(&format!("enrolled as agent {} of {url}", identity.agent));
    Ok(Some(identity))
}

/// Enrols it. A server that is not reached or is busy is tried again: the network may come later than
/// the agent, and an answer may be lost.
fn enrolled(
    config: &Config,
    enrolment: &Enrolment,
    shared: &Shared,
) -> Result<Option<Identity>, Error> {
    let own_secret = shared.lock().store.own_secret(enrolment)?;
    let mut backoff = Backoff::default();
    let mut chance = Chance::new(u64::from_ne_bytes(random()));
    let mut told = String::new();
    let mut tries = 0;
    while !shared.is_stopped() {
        let mut goes_on = || !shared.is_stopped();
        let trouble = match enrol(enrolment, &own_secret, &config.name, &mut goes_on) {
            Ok(identity) => return Ok(Some(identity)),
            Err(_) if shared.is_stopped() => return Ok(None),
            Err(NotEnrolled::Ever(error)) => return Err(error),
            Err(NotEnrolled::Yet(trouble)) => trouble,
        };
        tries += 1;
        if config.is_once && tries == MOST_TRIES {
            return Err(Error::Unreached(trouble.text));
        }
        if trouble.text != told {
            (shared.log)(&format!("{}: it is tried again", trouble.text));
            told = trouble.text;
        }
        let wait = backoff.failed(trouble.failure, &mut chance);
        let longest = match config.is_once {
            true => LONGEST_PAUSE,
            false => Duration::MAX,
        };
        pause(shared, wait.min(longest));
    }
    Ok(None)
}

fn always(shared: &Shared, measuring: &Measuring<'_>, mut sending: Sending<'_>) {
    thread::scope(|scope| {
        scope.spawn(move || sending.run());
        measuring.run();
    });
    (shared.log)("ended");
}

/// Each plan once, and all that waits.
fn once(shared: &Shared, measuring: &Measuring<'_>, mut sending: Sending<'_>) -> Result<(), Error> {
    let refused = |trouble: Trouble| Error::Refused(trouble.text);
    sending.plans().map_err(refused)?;
    measuring.run_once();
    let mut backoff = Backoff::default();
    let mut chance = Chance::new(u64::from_ne_bytes(random()));
    for left in (0..MOST_TRIES).rev() {
        match sending.round() {
            Ok(()) => return Ok(()),
            Err(trouble) if left == 0 || shared.is_stopped() => {
                let waiting = shared.lock().store.spool.waiting().count();
                return Err(Error::Refused(format!(
                    "{}: {waiting} results wait to be sent",
                    trouble.text
                )));
            }
            Err(trouble) => {
                let wait = backoff.failed(trouble.failure, &mut chance);
                pause(shared, wait.min(LONGEST_PAUSE));
            }
        }
    }
    Ok(())
}

/// Waits so long, or until it is stopped.
fn pause(shared: &Shared, time: Duration) {
    let until = Instant::now() + time;
    let mut state = shared.lock();
    while !shared.is_stopped() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        state = shared.wait(state, left);
    }
}
