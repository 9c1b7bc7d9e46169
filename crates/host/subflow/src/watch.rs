//! Watches a connection.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use mptcplab_linux::event::Events;

use crate::client::Client;
use crate::event::Names;
use crate::own::Connection;
use crate::protocol::{Message, unexpected};
use crate::wait::{after, wait};
use crate::{Error, EventKind, Interrupt, SubflowEvent};

/// The events of one connection: an iterator, or [`Watch::next_within`] with a timeout. Its descriptor
/// is readable when there may be an event. The connection
/// ends when its owner closes the socket, watched or not.
pub struct Watch {
    source: Source,
    token: u32,
    names: Names,
    /// Of [`Source::Direct`]; a client has its own.
    interrupt: Option<Interrupt>,
    ended: bool,
}

enum Source {
    Broker(Client),
    /// Events of the whole namespace, and those of the connection that were read already.
    Direct(Events, VecDeque<SubflowEvent>),
}

impl Watch {
    /// By this process itself.
    pub(crate) fn direct(
        socket: BorrowedFd<'_>,
        connection: &Connection,
        events: Events,
        interrupt: Option<Interrupt>,
    ) -> Self {
        Self {
            source: Source::Direct(events, VecDeque::new()),
            token: connection.token,
            names: Names::of(socket, connection),
            interrupt,
            ended: false,
        }
    }

    /// By a broker that was asked to watch.
    pub(crate) fn by_broker(
        socket: BorrowedFd<'_>,
        connection: &Connection,
        client: Client,
    ) -> Self {
        Self {
            source: Source::Broker(client),
            token: connection.token,
            names: Names::of(socket, connection),
            interrupt: None,
            ended: false,
        }
    }

    /// The next event; `None` when none came in this time (`None`: waits as long as it takes), and
    /// after the connection is closed.
    ///
    /// # Errors
    /// [`Error::TooMany`] where events were lost (watching goes on), [`Error::NoBroker`],
    /// [`Error::Interrupted`].
    pub fn next_within(
        &mut self,
        patience: Option<Duration>,
    ) -> Result<Option<SubflowEvent>, Error> {
        if self.ended {
            return Ok(None);
        }
        let event = match &mut self.source {
            Source::Direct(events, told) => {
                let interrupt = self.interrupt.as_ref();
                next_of(events, told, self.token, patience, interrupt)?
            }
            Source::Broker(client) => match client.receive(patience)? {
                None => None,
                Some(Message::Event(event)) => Some(event),
                Some(Message::Lost {}) => return Err(lost()),
                Some(_) => return Err(unexpected()),
            },
        };
        let event = event.map(|event| self.names.name(event));
        self.ended = event
            .as_ref()
            .is_some_and(|event| event.kind == EventKind::Closed);
        Ok(event)
    }

    /// The last event was that the connection is closed: there are no more.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Sets the interrupt that ends waiting from now on.
    pub fn interruptible(&mut self, interrupt: Option<Interrupt>) {
        match &mut self.source {
            Source::Broker(client) => client.interrupt = interrupt,
            Source::Direct(..) => self.interrupt = interrupt,
        }
    }
}

/// Reads the next event of this connection among those of the namespace.
fn next_of(
    events: &mut Events,
    told: &mut VecDeque<SubflowEvent>,
    token: u32,
    patience: Option<Duration>,
    interrupt: Option<&Interrupt>,
) -> Result<Option<SubflowEvent>, Error> {
    let deadline = patience.map(after);
    loop {
        if let Some(event) = told.pop_front() {
            return Ok(Some(event));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if !wait(events.as_fd(), left, interrupt)? {
            return Ok(None);
        }
        let read = events.read(|event| {
            if event.token == token {
                told.push_back(SubflowEvent::of(&event));
            }
        });
        read.map_err(|_| lost())?;
    }
}

impl Iterator for Watch {
    type Item = Result<SubflowEvent, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_within(None).transpose()
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.source {
            Source::Broker(client) => client.as_fd(),
            Source::Direct(events, _) => events.as_fd(),
        }
    }
}

fn lost() -> Error {
    Error::TooMany {
        reason: "events came faster than they were read; some are lost".to_owned(),
    }
}
