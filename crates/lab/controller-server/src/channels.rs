//! All channels, and who of those that have not said their features may stay.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use rustls::ServerConfig;

use crate::channel::Channel;
use crate::config::Limits;
use crate::transport::Transport;

/// Channels by their numbers.
#[derive(Debug)]
pub(crate) struct Channels {
    limits: Limits,
    tls: Option<Arc<ServerConfig>>,
    all: BTreeMap<u32, Channel>,
    next: u32,
}

impl Channels {
    pub(crate) fn new(limits: Limits, tls: Option<Arc<ServerConfig>>) -> Self {
        Self {
            limits,
            tls,
            all: BTreeMap::new(),
            next: 1,
        }
    }

    /// Takes a connection that has just been accepted, and gives its number.
    pub(crate) fn add(&mut self, now: Instant, stream: TcpStream) -> io::Result<u32> {
        if self.all.len() >= self.limits.connections {
            return Err(io::Error::other("there are too many connections"));
        }
        let transport = Transport::new(stream, self.tls.as_ref())?;
        let until = now + self.limits.unknown_time();
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let channel = Channel::new(transport, self.limits.message_bytes, until);
        self.all.insert(number, channel);
        Ok(number)
    }

    /// The oldest channel without features, where there are too many of them.
    pub(crate) fn crowded(&self) -> Option<u32> {
        let is_crowded = self.unknown().count() > self.limits.unknown;
        let oldest = self.unknown().min().filter(|_| is_crowded);
        oldest.map(|(_, number)| number)
    }

    /// The channels whose features have not come in time.
    pub(crate) fn late(&self, now: Instant) -> Vec<u32> {
        let late = self.unknown().filter(|(until, _)| *until <= now);
        late.map(|(_, number)| number).collect()
    }

    /// The time by which the next features are to come.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.unknown().map(|(until, _)| until).min()
    }

    fn unknown(&self) -> impl Iterator<Item = (Instant, u32)> {
        let all = self.all.iter();
        all.filter_map(|(number, channel)| Some((channel.unknown_until?, *number)))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Channel)> {
        self.all.iter().map(|(number, channel)| (*number, channel))
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.all.keys().copied().collect()
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Channel> {
        self.all.get_mut(&number)
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<Channel> {
        self.all.remove(&number)
    }
}
