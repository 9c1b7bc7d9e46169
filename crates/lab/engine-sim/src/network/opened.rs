//! The connections of a run in the order in which they were opened.

use mptcplab_plan::Way;
use mptcplab_stack::ConnectionId;

use super::{Network, Owner};
use crate::Nanos;

/// A connection that a flow has opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) owner: Owner,
    pub(crate) at: Nanos,
    pub(crate) way: Way,
    pub(crate) client: ConnectionId,
    /// Once the server has accepted it.
    pub(crate) server: Option<ConnectionId>,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenedConnections {
    /// By flows, each in the order of its conversations.
    of_flows: Vec<Vec<Opened>>,
    /// Flow and place among those of the flow.
    order: Vec<(u32, u32)>,
}

impl OpenedConnections {
    pub(super) fn add(&mut self, owner: Owner, at: Nanos, client: ConnectionId, way: Way) {
        let flow = owner.flow as usize;
        if self.of_flows.len() <= flow {
            self.of_flows.resize_with(flow + 1, Vec::new);
        }
        let opened = &mut self.of_flows[flow];
        self.order.push((owner.flow, opened.len() as u32));
        if opened.is_empty() {
            // Most flows open one.
            opened.reserve_exact(1);
        }
        opened.push(Opened {
            owner,
            at,
            way,
            client,
            server: None,
        });
    }

    pub(super) fn accept(&mut self, owner: Owner, server: ConnectionId) {
        let Some(opened) = self.of_flows.get_mut(owner.flow as usize) else {
            return;
        };
        let number = |one: &Opened| one.owner.conversation;
        let place = match opened.first().map(number) {
            // The control connection of FTP has the largest number, and is opened first.
            Some(first) if first == owner.conversation => Ok(0),
            Some(u32::MAX) => opened[1..]
                .binary_search_by_key(&owner.conversation, number)
                .map(|place| place + 1),
            _ => opened.binary_search_by_key(&owner.conversation, number),
        };
        if let Ok(place) = place {
            opened[place].server = Some(server);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Opened> {
        let &(flow, place) = self.order.get(number)?;
        self.of_flows.get(flow as usize)?.get(place as usize)
    }
}

impl Network {
    /// The connections that flows have opened, first to last.
    pub(crate) fn opened(&self) -> &OpenedConnections {
        &self.opened
    }
}
