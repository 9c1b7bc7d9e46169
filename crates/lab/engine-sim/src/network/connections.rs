//! The applications' calls to the transport layers of their hosts.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use mptcplab_plan::{Traffic, Way};
use mptcplab_stack::{ConnectionId, FourTuple};

use super::{Network, Owner};
use crate::Nanos;
use crate::error::SimError;

impl Network {
    /// Opens a port for the servers of a flow.
    pub(crate) fn listen(&mut self, traffic: &Traffic, port: u16) -> Result<(), SimError> {
        let name = &traffic.server_congestion_control;
        let options = self.settings[traffic.server].socket(traffic, name)?;
        if let Some(stack) = &mut self.stacks[traffic.server] {
            stack.listen(port, options);
        }
        Ok(())
    }

    /// Opens a connection of a flow's client.
    ///
    /// # Errors
    /// The reason why the target has no route, in the kernel's words.
    pub(crate) fn connect(
        &mut self,
        traffic: &Traffic,
        target: SocketAddr,
    ) -> Result<ConnectionId, &'static str> {
        let node = traffic.client;
        let source = match traffic.source {
            Some(source) if !self.nodes[node].has(source) => {
                return Err("cannot assign requested address");
            }
            Some(source) => source,
            None => self
                .source_for(node, target.ip())
                .ok_or("network is unreachable")?,
        };
        if !self.nodes[node].reaches(source, target.ip()) {
            return Err("no route to host");
        }
        let options = self.settings[node].socket(traffic, &traffic.congestion_control);
        let (Ok(options), Some(stack)) = (options, &mut self.stacks[node]) else {
            return Err("network is unreachable");
        };
        let id = stack.connect(self.now, source, target, options);
        self.mark_dirty(node);
        Ok(id)
    }

    /// Sets the owner of a connection that a flow has opened, which carries data this way.
    pub(crate) fn own_opened(&mut self, node: usize, id: ConnectionId, owner: Owner, way: Way) {
        self.owners.insert((node, id), owner);
        self.opened.add(owner, self.now, id, way);
    }

    /// Sets the owner of a connection that a flow's server has accepted.
    pub(crate) fn own(&mut self, node: usize, id: ConnectionId, owner: Owner) {
        self.owners.insert((node, id), owner);
        self.opened.accept(owner, id);
    }

    /// The owner of a connection.
    pub(crate) fn owner(&self, node: usize, id: ConnectionId) -> Option<Owner> {
        self.owners.get(&(node, id)).copied()
    }

    pub(crate) fn read(&mut self, node: usize, id: ConnectionId, most: usize) -> Option<Bytes> {
        let bytes = self.stacks[node].as_mut()?.read(self.now, id, most);
        // The window may have opened.
        if bytes.is_some() {
            self.mark_dirty(node);
        }
        bytes
    }

    /// Writes some of `bytes`, as much as there is room for. What may leave does so at once, as in a
    /// kernel: what is written next joins it neither in a segment nor in a fragment.
    pub(crate) fn write(&mut self, node: usize, id: ConnectionId, bytes: Bytes) -> usize {
        let Some(stack) = &mut self.stacks[node] else {
            return 0;
        };
        let taken = stack.write(self.now, id, bytes);
        self.send_segments(node);
        self.mark_dirty(node);
        taken
    }

    pub(crate) fn shutdown(&mut self, node: usize, id: ConnectionId) {
        if let Some(stack) = &mut self.stacks[node] {
            stack.shutdown(self.now, id);
            self.mark_dirty(node);
        }
    }

    /// Notes that a program wants the processor of its host until then.
    pub(crate) fn keep_busy(&mut self, node: usize, until: Nanos) {
        if let Some(stack) = &mut self.stacks[node] {
            stack.keep_busy(until);
        }
    }

    pub(crate) fn abort(&mut self, node: usize, id: ConnectionId) {
        if let Some(stack) = &mut self.stacks[node] {
            stack.abort(self.now, id);
            self.mark_dirty(node);
        }
    }

    pub(crate) fn release(&mut self, node: usize, id: ConnectionId) {
        self.owners.remove(&(node, id));
        if let Some(stack) = &mut self.stacks[node] {
            stack.release(self.now, id);
            self.mark_dirty(node);
        }
    }

    /// Opens a subflow of a connection, as its application asks.
    ///
    /// # Errors
    /// Where the stack does not open it.
    pub(crate) fn open_subflow(
        &mut self,
        node: usize,
        id: ConnectionId,
        local: IpAddr,
        remote: SocketAddr,
    ) -> Result<(), String> {
        let Some(stack) = &mut self.stacks[node] else {
            return Ok(());
        };
        let opened = stack.open_subflow(self.now, id, local, remote, false);
        self.mark_dirty(node);
        match opened {
            true => Ok(()),
            false => Err(format!("no subflow can be opened from {local} to {remote}")),
        }
    }

    /// Closes the subflows of a connection between two addresses, as its application asks.
    ///
    /// # Errors
    /// Where there is none.
    pub(crate) fn close_subflow(
        &mut self,
        node: usize,
        id: ConnectionId,
        local: IpAddr,
        remote: SocketAddr,
    ) -> Result<(), String> {
        let Some(stack) = &mut self.stacks[node] else {
            return Ok(());
        };
        let between = |tuple: &FourTuple| tuple.local.ip() == local && tuple.remote == remote;
        let mut closed = false;
        for subflow in stack.subflows(id) {
            if between(&subflow.tcp.tuple) {
                closed |= stack.close_subflow(self.now, id, subflow.id);
            }
        }
        self.mark_dirty(node);
        match closed {
            true => Ok(()),
            false => Err(format!("there is no subflow from {local} to {remote}")),
        }
    }

    pub(crate) fn local_address(&self, node: usize, id: ConnectionId) -> Option<SocketAddr> {
        Some(self.stacks[node].as_ref()?.info(id)?.local)
    }

    pub(crate) fn remote_address(&self, node: usize, id: ConnectionId) -> Option<SocketAddr> {
        Some(self.stacks[node].as_ref()?.info(id)?.remote)
    }
}
