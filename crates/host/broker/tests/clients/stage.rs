//! Common start of the tests.

use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use mptcplab_linux::event::Events;
use mptcplab_subflow::protocol;
use mptcplab_subflow::{Manager, Open};
use mptcplab_testbed::Hosts;
use rustix::thread::{Uid, set_thread_res_uid};

use crate::common::{Folder, from};
use crate::process::{Process, program};
use crate::session::RawSession;

/// A user of no special kind.
pub(crate) const HOSTILE: u32 = 54_321;
/// Another one.
pub(crate) const HONEST: u32 = 54_322;
/// A command that cannot be carried out.
pub(crate) const CLOSE: protocol::Command = protocol::Command::Close { subflow: 77 };

/// A client and a server, a broker beside the client, and a connection over the first link.
pub(crate) struct Stage {
    pub(crate) hosts: Hosts,
    pub(crate) broker: Process,
    pub(crate) listener: (TcpListener, u16),
    pub(crate) client: TcpStream,
    pub(crate) peer: TcpStream,
    /// Without a subscriber the server resets each subflow that wants to join.
    _joins: Events,
}

impl Stage {
    /// With a broker that allows everything.
    pub(crate) fn new(links: u8) -> Self {
        Self::with(links, program(), |_| {})
    }

    /// With a broker that is started in another way.
    pub(crate) fn by(links: u8, program: Command) -> Self {
        Self::with(links, program, |_| {})
    }

    /// With a broker that is told something else.
    pub(crate) fn told(links: u8, other: impl FnOnce(&mut serde_json::Value)) -> Self {
        Self::with(links, program(), other)
    }

    /// Both.
    pub(crate) fn with(
        links: u8,
        program: Command,
        other: impl FnOnce(&mut serde_json::Value),
    ) -> Self {
        let hosts = Hosts::new(links);
        let broker = Process::start_as(&hosts.client, Folder::new(), program, other);
        let subscribed = hosts.server.run(Events::open);
        let listener = hosts.listen(false);
        let (client, peer) = hosts.connect(&listener, false);
        Self {
            hosts,
            broker,
            listener,
            client,
            peer,
            _joins: subscribed.expect("the namespace").expect("MPTCP"),
        }
    }

    pub(crate) fn session(&self) -> RawSession {
        RawSession::open(&self.broker.socket)
    }

    pub(crate) fn manager(&self) -> Manager {
        Manager::broker(&self.broker.socket).expect("the broker listens")
    }

    /// A subflow from the client's address on the last link.
    pub(crate) fn other(&self) -> Open {
        from(self.hosts.client_address(self.hosts.links(), false))
    }

    /// Opens a subflow and closes it.
    pub(crate) fn try_command(&self, manager: &mut Manager) {
        let id = manager.open_subflow(&self.client, &self.other()).unwrap();
        manager.close_subflow(&self.client, id).unwrap();
    }
}

/// Does something as another user, on a thread of its own.
pub(crate) fn as_user<T: Send>(uid: u32, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let uid = Uid::from_raw(uid);
            set_thread_res_uid(uid, uid, uid).expect("root");
            work()
        });
        worker.join().expect("no panic")
    })
}
