//! Every join of the connections of a namespace is counted, also of subflows that have gone since.

use std::collections::HashMap;
use std::io;

use mptcplab_linux::event::{Event, EventKind, Events};

/// Counts the joins of the connections of one namespace from when it is opened.
pub(crate) struct SubflowEvents {
    events: Events,
    count: Count,
}

/// The events that have been read so far.
#[derive(Default)]
struct Count {
    joins: HashMap<u32, u32>,
    /// Events are missing: no count is right from then on.
    lost: bool,
}

impl SubflowEvents {
    /// Subscribes to the events of the calling thread's namespace.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self {
            events: Events::open()?,
            count: Count::default(),
        })
    }

    /// Additional subflows established so far on the connection with this local token.
    ///
    /// `None` when events were lost, now or at any time before.
    pub(crate) fn joins(&mut self, token: u32) -> Option<u32> {
        let read = self.events.read(|event| self.count.take(&event));
        self.count.lost |= read.is_err();
        self.count.of(token)
    }
}

impl Count {
    fn take(&mut self, event: &Event) {
        if event.kind == EventKind::SubflowEstablished {
            *self.joins.entry(event.token).or_default() += 1;
        }
    }

    fn of(&self, token: u32) -> Option<u32> {
        let joins = self.joins.get(&token).copied().unwrap_or(0);
        (!self.lost).then_some(joins)
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
    fn joins_are_counted_by_connection() {
        let mut count = Count::default();
        count.take(&event(EventKind::SubflowEstablished, 7));
        count.take(&event(EventKind::SubflowClosed, 7));
        count.take(&event(EventKind::SubflowEstablished, 7));
        count.take(&event(EventKind::SubflowEstablished, 8));
        assert_eq!(count.of(7), Some(2));
        assert_eq!(count.of(1), Some(0));
    }

    #[test]
    fn once_events_are_lost_no_count_is_known() {
        let mut count = Count::default();
        count.take(&event(EventKind::SubflowEstablished, 7));
        count.lost = true;
        assert_eq!(count.of(7), None);
    }
}
