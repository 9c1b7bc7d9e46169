//! Every join of the connections of a namespace is noted with its time, also of subflows that have
//! gone since.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use mptcplab_link::Nanos;
use mptcplab_linux::event::{Event, EventKind, Events};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::EventFd;

use crate::record::Recorder;

/// Notes the joins of the connections of one namespace from when it is opened. A thread reads the
/// events as they come, since they carry no time.
pub(crate) struct SubflowEvents {
    account: Arc<Mutex<Account>>,
    ended: Arc<EventFd>,
}

/// The subscription and what has been read from it so far.
struct Account {
    events: Events,
    recorder: Recorder,
    joins: Joins,
}

/// The times of joins by the token of their connection.
#[derive(Default)]
struct Joins {
    joined_ns: HashMap<u32, Vec<Nanos>>,
    /// Events are missing: no account is right from then on.
    lost: bool,
}

impl SubflowEvents {
    /// Subscribes to the events of the calling thread's namespace; times are the recorder's.
    pub(crate) fn open(recorder: &Recorder) -> io::Result<Self> {
        let events = Events::open()?;
        let readable = events.as_fd().try_clone_to_owned()?;
        let account = Arc::new(Mutex::new(Account {
            events,
            recorder: recorder.clone(),
            joins: Joins::default(),
        }));
        let ended = Arc::new(EventFd::new()?);
        thread::Builder::new().name("joins".into()).spawn({
            let (account, ended) = (Arc::clone(&account), Arc::clone(&ended));
            move || while wait(&readable, &ended) && lock(&account).read() {}
        })?;
        Ok(Self { account, ended })
    }

    /// When each additional subflow so far was established on the connection with this local token.
    ///
    /// `None` when events were lost, now or at any time before.
    pub(crate) fn joined_ns(&self, token: u32) -> Option<Vec<Nanos>> {
        let mut account = lock(&self.account);
        account.read();
        account.joins.of(token)
    }
}

impl Drop for SubflowEvents {
    fn drop(&mut self) {
        // A thread that has ended by itself does not read it.
        let _ = self.ended.write(1);
    }
}

impl Account {
    /// Reads what is there; false once events were lost, as no more need be read then.
    fn read(&mut self) -> bool {
        let t_ns = self.recorder.now();
        let read = self.events.read(|event| self.joins.take(&event, t_ns));
        self.joins.lost |= read.is_err();
        !self.joins.lost
    }
}

impl Joins {
    fn take(&mut self, event: &Event, t_ns: Nanos) {
        if event.kind == EventKind::SubflowEstablished {
            self.joined_ns.entry(event.token).or_default().push(t_ns);
        }
    }

    fn of(&self, token: u32) -> Option<Vec<Nanos>> {
        let joined = self.joined_ns.get(&token).cloned().unwrap_or_default();
        (!self.lost).then_some(joined)
    }
}

fn lock(account: &Mutex<Account>) -> MutexGuard<'_, Account> {
    account.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for events; false once the account is no longer needed.
fn wait(readable: &OwnedFd, ended: &EventFd) -> bool {
    let mut ready = [readable.as_fd(), ended.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    loop {
        match poll(&mut ready, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            Err(_) => return false,
            Ok(_) => return !ready[1].any().unwrap_or(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind, token: u32) -> Event {
        Event {
            kind,
            token,
            local: None,
            remote: None,
            local_id: None,
            remote_id: None,
            backup: None,
            error: None,
            reset_reason: None,
            interface: None,
            server_side: None,
        }
    }

    #[test]
    fn joins_are_noted_by_connection() {
        let mut joins = Joins::default();
        joins.take(&event(EventKind::SubflowEstablished, 7), 10);
        joins.take(&event(EventKind::SubflowClosed, 7), 20);
        joins.take(&event(EventKind::SubflowEstablished, 7), 30);
        joins.take(&event(EventKind::SubflowEstablished, 8), 40);
        assert_eq!(joins.of(7), Some(vec![10, 30]));
        assert_eq!(joins.of(1), Some(vec![]));
    }

    #[test]
    fn once_events_are_lost_nothing_is_known() {
        let mut joins = Joins::default();
        joins.take(&event(EventKind::SubflowEstablished, 7), 10);
        joins.lost = true;
        assert_eq!(joins.of(7), None);
    }
}
