//! Gives each client to the thread that serves its user, or rejects it.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use mptcplab_subflow::Error;

use crate::limits::USERS;
use crate::peer::Peer;
use crate::rejections::Rejections;
use crate::shared::Shared;
use crate::user_state::Outcome;
use crate::user_thread::UserThread;
use crate::worker::NewSession;

/// The users' threads, and the clients for which there is none.
pub(crate) struct Admission {
    shared: Arc<Shared>,
    users: HashMap<u32, UserThread>,
    rejections: Rejections,
    /// The journal says that no clients are accepted.
    is_full: bool,
}

impl Admission {
    /// Without users yet. `own` is a descriptor of the broker's.
    ///
    /// # Errors
    /// Where there is no descriptor left.
    pub(crate) fn new(shared: Arc<Shared>, own: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self {
            rejections: Rejections::new(own, shared.limits.sessions)?,
            shared,
            users: HashMap::new(),
            is_full: false,
        })
    }

    /// Gives a client to the thread of its user, or rejects it.
    pub(crate) fn admit(&mut self, session: OwnedFd) {
        let peer = match Peer::of(&session) {
            Ok(peer) => peer,
            Err(error) => {
                let error = Error::kernel("ask who you are", &error);
                return self.rejections.reject(u32::MAX, session, error);
            }
        };
        if let Err((session, error)) = self.find_place(session, &peer) {
            let journal = &self.shared.journal;
            journal.action(&peer, None, "-", &Outcome::Failed(error.clone()));
            self.rejections.reject(peer.credentials.uid, session, error);
        }
    }

    /// Gives a client to the thread of its user; gives it back with the reason where it is rejected.
    fn find_place(&mut self, session: OwnedFd, peer: &Peer) -> Result<(), (OwnedFd, Error)> {
        let too_many = |reason: &str| Error::TooMany {
            reason: reason.to_owned(),
        };
        let rule = match self.shared.policy.rule_for(&peer.credentials) {
            Ok(rule) => rule,
            Err(error) => return Err((session, error)),
        };
        let most = 2 * self.shared.limits.sessions;
        let user = match self.thread_of(peer.credentials.uid) {
            Ok(user) => user,
            Err(reason) => return Err((session, too_many(reason))),
        };
        // A thread that is stuck takes none.
        if user.clients() > most {
            let reason = "you have too many sessions with the broker";
            return Err((session, too_many(reason)));
        }
        let new = NewSession {
            socket: session,
            peer: peer.clone(),
            rule,
        };
        user.send(new).map_err(|session| {
            let reason = "the thread that serves you has just ended; try again";
            (session, too_many(reason))
        })
    }

    /// The thread that serves a user, made where there is none; or why there cannot be one.
    fn thread_of(&mut self, uid: u32) -> Result<&UserThread, &'static str> {
        if !self.users.get(&uid).is_some_and(UserThread::is_running) {
            self.users.remove(&uid);
            if self.users.len() >= USERS {
                self.users.retain(|_, user| user.is_occupied());
            }
            if self.users.len() >= USERS {
                return Err("other users take all of the broker's threads");
            }
            let made = UserThread::start(uid, &self.shared);
            let made = made.map_err(|_| "the broker can start no thread")?;
            self.users.insert(uid, made);
        }
        Ok(&self.users[&uid])
    }

    /// As many rejected sessions wait to be closed as may: no more clients should be accepted.
    pub(crate) fn is_full(&self) -> bool {
        self.rejections.is_full()
    }

    /// Some rejected sessions wait to be closed.
    pub(crate) fn is_behind(&self) -> bool {
        self.rejections.is_waiting()
    }

    /// Closes the sessions of rejected clients. `own` is a descriptor of the broker's.
    pub(crate) fn close_rejected(&mut self, own: BorrowedFd<'_>) {
        self.rejections.close(own);
        if self.rejections.is_full() != self.is_full {
            self.is_full = !self.is_full;
            self.log_full();
        }
    }

    /// Writes to the journal that no further clients are accepted, or are again.
    fn log_full(&self) {
        let journal = &self.shared.journal;
        if !self.is_full {
            return journal.write("clients are accepted again".to_owned());
        }
        let mut users: Vec<u32> = self.rejections.users().into_iter().collect();
        users.sort_unstable();
        journal.write(format!(
            "no client is accepted: it takes long to close what was sent by the users {users:?}"
        ));
    }

    /// Ends the users' threads; dropping the rejected sessions may take long.
    pub(crate) fn end(self) -> (Vec<JoinHandle<()>>, Rejections) {
        let threads = self.users.into_values().map(UserThread::end).collect();
        (threads, self.rejections)
    }
}
