//! All state of connections, for whoever stops time and looks.

use alloc::string::String;
use alloc::vec::Vec;

use super::HostStack;
use super::connection::Connection;
use crate::event::{ConnectionId, SubflowId};
use crate::info::{DataDetail, NotedChoice, SubflowDetail};

impl HostStack {
    /// Sequence numbers of a connection at the level of data; none for TCP, and once it is gone.
    pub fn data_detail(&self, id: ConnectionId) -> Option<DataDetail> {
        match &self.slots.get(id)?.connection {
            Connection::Plain(_) => None,
            Connection::Multipath(multipath) => Some(multipath.inner().data_detail()),
        }
    }

    /// The scheduler of a connection with its state; none for TCP, and once it is gone.
    pub fn scheduler(&self, id: ConnectionId) -> Option<String> {
        match &self.slots.get(id)?.connection {
            Connection::Plain(_) => None,
            Connection::Multipath(multipath) => Some(multipath.inner().scheduler()),
        }
    }

    /// The choices of a connection's scheduler since the last call; the first call begins to note
    /// them. Nothing else of the connection changes.
    pub fn take_choices(&mut self, id: ConnectionId) -> Vec<NotedChoice> {
        match self.slots.get_mut(id).map(|slot| &mut slot.connection) {
            Some(Connection::Multipath(multipath)) => multipath.inner_mut().take_choices(),
            _ => Vec::new(),
        }
    }

    /// Numbers of a connection's subflows, in the order in which they were opened.
    pub fn subflow_ids(&self, id: ConnectionId) -> Vec<SubflowId> {
        match self.slots.get(id).map(|slot| &slot.connection) {
            None => Vec::new(),
            Some(Connection::Plain(_)) => [SubflowId(0)].to_vec(),
            Some(Connection::Multipath(multipath)) => multipath.inner().subflow_ids().collect(),
        }
    }

    /// All state of a subflow; none once it is gone.
    pub fn subflow_detail(&self, id: ConnectionId, subflow: SubflowId) -> Option<SubflowDetail> {
        match &self.slots.get(id)?.connection {
            Connection::Plain(plain) => (subflow.0 == 0).then(|| plain.subflow_detail()),
            Connection::Multipath(multipath) => multipath.inner().subflow_detail(subflow),
        }
    }
}
