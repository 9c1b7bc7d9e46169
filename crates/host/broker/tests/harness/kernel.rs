//! A kernel that answers anything.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use mptcplab_broker::backend::PathManagerBackend;
use mptcplab_broker::options::OptionRequest;
use mptcplab_subflow::Error;
use mptcplab_subflow::path_manager::{Open, Opening};

/// A socket of a script: the token of its connection, and a count of those that are held.
pub(super) struct Socket {
    token: u32,
    held: Rc<Cell<usize>>,
}

impl Socket {
    pub(super) fn new(token: u8, held: &Rc<Cell<usize>>) -> Self {
        held.set(held.get() + 1);
        Self {
            token: token.into(),
            held: held.clone(),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.held.set(self.held.get() - 1);
    }
}

/// A kernel that answers by what sockets and commands look like.
pub(super) struct Kernel {
    next_id: u32,
    opened: BTreeSet<u32>,
    tickets: Tickets,
}

/// Options that are being set, and their sockets.
pub(super) type Tickets = Rc<RefCell<Vec<(u64, Socket)>>>;

fn refusal(token: u32) -> Option<Error> {
    match token % 8 {
        5 => Some(Error::NotMptcp),
        6 => Some(Error::ForeignNamespace),
        7 => Some(Error::NotConnected),
        _ => None,
    }
}

fn answer<T>(token: u32, value: T) -> Result<T, Error> {
    refusal(token).map_or(Ok(value), Err)
}

impl Kernel {
    pub(super) fn new(tickets: Tickets) -> Self {
        Self {
            next_id: 0,
            opened: BTreeSet::new(),
            tickets,
        }
    }
}

impl PathManagerBackend for Kernel {
    type Socket = Socket;

    fn connection(&self, socket: &Socket) -> Result<(u32, usize), Error> {
        answer(socket.token, (socket.token, (socket.token / 8) as usize))
    }

    fn interfaces(&mut self, address: IpAddr) -> Result<Vec<String>, Error> {
        Ok(match address {
            IpAddr::V4(v4) if v4.octets()[3] < 128 => vec!["eth0".to_owned()],
            IpAddr::V4(_) => vec!["eth0".to_owned(), "wlan0".to_owned()],
            IpAddr::V6(_) => vec![],
        })
    }

    fn interface(&mut self, name: &str) -> Result<Option<(u32, String)>, Error> {
        Ok((name != "wlan1").then(|| (4, name.to_owned())))
    }

    fn open(&mut self, socket: &Socket, open: &Open, _: u32) -> Result<Opening, Error> {
        match open.local.port() % 4 {
            0 => return Err(Error::NotEstablished),
            1 => {
                let address = open.local;
                return Err(Error::NotLocal { address });
            }
            _ => {}
        }
        self.next_id += 1;
        self.opened.insert(self.next_id);
        Ok(Opening {
            token: socket.token,
            id: self.next_id,
            local: open.local,
            remote: open.remote.unwrap_or(open.local),
        })
    }

    fn result(&self, opening: &Opening, _: &Socket) -> Option<Result<u32, Error>> {
        opening.id.is_multiple_of(2).then_some(Ok(opening.id))
    }

    fn abandon(&mut self, opening: &Opening) {
        assert!(self.opened.remove(&opening.id), "abandoned twice");
    }

    fn close(&mut self, socket: &Socket, id: u32) -> Result<(), Error> {
        match id % 2 {
            0 => answer(socket.token, ()),
            _ => Err(Error::NoSuchSubflow { id }),
        }
    }

    fn set_backup(&mut self, socket: &Socket, _: u32, _: bool) -> Result<(), Error> {
        answer(socket.token, ())
    }

    fn announce(&mut self, socket: &Socket, _: SocketAddr) -> Result<u8, Error> {
        answer(socket.token, 1)
    }

    fn withdraw(&mut self, _: &Socket, id: u8) -> Result<(), Error> {
        Err(Error::NoSuchAddress { id })
    }

    fn begin_option(
        &mut self,
        ticket: u64,
        socket: Socket,
        wanted: OptionRequest,
    ) -> Result<(), Error> {
        if wanted.subflow.is_multiple_of(3) {
            let reason = "no BPF".to_owned();
            return Err(Error::NeedsBpf { reason });
        }
        self.tickets.borrow_mut().push((ticket, socket));
        Ok(())
    }

    fn has_connection(&mut self, token: u32) -> bool {
        token.is_multiple_of(2)
    }
}
