//! Packets that wait for the controller's decision (section 6.1.2).

use std::collections::VecDeque;

use bytes::Bytes;
use mptcplab_openflow::ErrorKind;
use mptcplab_openflow::error::BadRequest;

/// Time that a packet is kept at least before it may make room for another one.
const KEPT_NS: u64 = 1_000_000_000;

#[derive(Clone, Debug)]
struct Buffered {
    number: u32,
    since_ns: u64,
    in_port: u32,
    frame: Bytes,
}

/// Buffers, in the order of their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    limit: usize,
    next: u32,
    waiting: VecDeque<Buffered>,
}

/// The place of a packet that was put into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) number: u32,
    /// Whether another packet made room.
    pub(crate) expired: bool,
}

impl Buffers {
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            limit: limit as usize,
            next: 1,
            waiting: VecDeque::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Keeps a packet, if there is room or the oldest one has been kept long enough.
    pub(crate) fn put(&mut self, now_ns: u64, in_port: u32, frame: &Bytes) -> Option<Place> {
        let mut expired = false;
        if self.waiting.len() >= self.limit {
            let oldest = self.waiting.front()?;
            if now_ns < oldest.since_ns + KEPT_NS {
                return None;
            }
            self.waiting.pop_front();
            expired = true;
        }
        let number = self.next;
        // The highest number says that there is no buffer.
        self.next = if number + 1 == u32::MAX {
            1
        } else {
            number + 1
        };
        self.waiting.push_back(Buffered {
            number,
            since_ns: now_ns,
            in_port,
            frame: frame.clone(),
        });
        Some(Place { number, expired })
    }

    /// Takes a packet out, with the port by which it had come in.
    pub(crate) fn take(&mut self, number: u32) -> Result<(u32, Bytes), ErrorKind> {
        match self.waiting.iter().position(|one| one.number == number) {
            Some(index) => {
                let found = self.waiting.remove(index).ok_or(BadRequest::BufferEmpty)?;
                Ok((found.in_port, found.frame))
            }
            None if number > 0 && number < self.next => Err(BadRequest::BufferEmpty.into()),
            None => Err(BadRequest::BufferUnknown.into()),
        }
    }
}
