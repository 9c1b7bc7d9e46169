//! A connection of plain TCP and its application.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use bytes::Bytes;
use mptcplab_wire::{Packet, Segment};

use super::config::SocketOptions;
use super::state::Context;
use crate::Nanos;
use crate::event::{Event, SubflowId};
use crate::info::{ConnectionInfo, SubflowDetail, SubflowInfo};
use crate::protocol::Protocol;
use crate::stretch::Stretch;
use crate::tcp::{CloseReason, FourTuple, NoExtension, Progress, State, Tcp, TcpCounters};

/// The only subflow of a plain connection.
const ONLY: SubflowId = SubflowId(0);

/// A connection of plain TCP.
#[derive(Clone, Debug)]
pub(crate) struct PlainConnection {
    tcp: Tcp,
    /// Listening port of a connection that a peer opened.
    port: Option<u16>,
    /// The application knows of it.
    told: bool,
    /// The application has let go of it.
    released: bool,
    /// [`Event::Readable`] was told, and no read has found nothing since.
    readable_told: bool,
    /// A write was not taken in full.
    wants_writable: bool,
}

impl PlainConnection {
    /// Opens a connection.
    pub(crate) fn connect(
        context: &mut Context<'_>,
        tuple: FourTuple,
        options: &SocketOptions,
    ) -> Self {
        let config = context.host.tcp_config(options, tuple.local.ip());
        let initial = context.host.initial_sequence();
        context.host.register(tuple, context.id, ONLY);
        Self::new(
            Tcp::connect(context.now, &config, 0, tuple, initial),
            None,
            true,
        )
    }

    /// Answers a SYN to a listening port.
    pub(crate) fn accept(
        context: &mut Context<'_>,
        tuple: FourTuple,
        options: &SocketOptions,
        syn: &Segment,
    ) -> Self {
        let config = context.host.tcp_config(options, tuple.local.ip());
        let initial = context.host.initial_sequence();
        context.host.register(tuple, context.id, ONLY);
        Self::new(
            Tcp::accept(context.now, &config, 0, tuple, initial, syn),
            Some(tuple.local.port()),
            false,
        )
    }

    fn new(tcp: Tcp, port: Option<u16>, told: bool) -> Self {
        Self {
            tcp,
            port,
            told,
            released: false,
            readable_told: false,
            wants_writable: false,
        }
    }

    pub(crate) fn receive(&mut self, context: &mut Context<'_>, segment: &Segment) {
        let progress = self.tcp.receive(context.now, segment, &[]);
        if progress.answer_with_reset {
            context.host.answer_with_reset(segment);
        }
        self.report(context, progress);
    }

    pub(crate) fn on_unreachable(&mut self, context: &mut Context<'_>, sequence: u32) {
        let progress = self.tcp.on_unreachable(sequence);
        self.report(context, progress);
    }

    pub(crate) fn transmit(
        &mut self,
        context: &mut Context<'_>,
        packet_pool: &mut VecDeque<Box<Packet>>,
    ) -> Option<Box<Packet>> {
        let outgoing = self.tcp.next_segment(context.now)?;
        let segment = self.tcp.write(context.now, outgoing, &mut NoExtension);
        Some(segment.into_boxed_packet(context.host.config.hop_limit, packet_pool.pop_back()))
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.tcp.next_deadline()
    }

    pub(crate) fn on_deadline(&mut self, context: &mut Context<'_>) {
        let progress = self.tcp.on_deadline(context.now, &[]);
        self.report(context, progress);
    }

    /// Tells the application what happened.
    fn report(&mut self, context: &mut Context<'_>, progress: Progress) {
        let id = context.id;
        if progress.established {
            self.on_established(context);
        }
        if progress.readable && !self.readable_told {
            self.readable_told = true;
            context.tell(Event::Readable { id });
        }
        if progress.finished {
            context.tell(Event::Finished { id });
        }
        if progress.acknowledged_bytes > 0 {
            self.tcp.relieve_send_buffer(context.now);
        }
        if self.wants_writable && self.tcp.is_writable() {
            self.wants_writable = false;
            self.tcp.set_awaited(false);
            context.tell(Event::Writable { id });
        }
        if let Some(reason) = progress.closed {
            self.on_closed(context, reason);
        }
    }

    fn on_established(&mut self, context: &mut Context<'_>) {
        let id = context.id;
        match self.port {
            Some(port) => {
                context.host.leave_half_open(port);
                self.told = true;
                context.tell(Event::Accepted { port, id });
            }
            None => context.tell(Event::Connected { id }),
        }
        context.tell(Event::SubflowEstablished {
            id,
            subflow: ONLY,
            tuple: self.tcp.tuple(),
            initiated_here: self.port.is_none(),
        });
    }

    fn on_closed(&mut self, context: &mut Context<'_>, reason: CloseReason) {
        let id = context.id;
        if !self.told {
            if let Some(port) = self.port {
                context.host.leave_half_open(port);
            }
            self.released = true;
            return;
        }
        if !self.released {
            context.tell(Event::SubflowClosed {
                id,
                subflow: ONLY,
                reason,
            });
            context.tell(Event::Closed { id, reason });
        }
    }

    pub(crate) fn write(&mut self, data: Bytes) -> usize {
        if self.tcp.is_shut() {
            return 0;
        }
        // The last segment that begins while there is room is a full one (`tcp_sendmsg`).
        let segment = u64::from(self.tcp.segment_bytes()).max(1);
        let room = self.tcp.send_buffer_room_bytes().next_multiple_of(segment);
        let taken = data.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.wants_writable |= taken < data.len();
        self.tcp.set_awaited(self.wants_writable);
        self.tcp.send(Stretch::new(data, taken));
        taken
    }

    pub(crate) fn read(&mut self, now: Nanos, max_bytes: usize) -> Option<Bytes> {
        let taken = self.tcp.take_received(now, max_bytes);
        if taken.is_none() {
            self.readable_told = false;
        }
        taken.map(|(_, data)| data)
    }

    pub(crate) fn shutdown(&mut self) {
        self.tcp.shutdown();
    }

    pub(crate) fn abort(&mut self, context: &mut Context<'_>) {
        let progress = self.tcp.abort();
        self.report(context, progress);
    }

    pub(crate) fn release(&mut self, context: &mut Context<'_>) {
        self.released = true;
        let progress = self.tcp.orphan(context.now);
        self.report(context, progress);
    }

    /// Whether it can be forgotten: it is closed and released.
    pub(crate) fn is_gone(&self) -> bool {
        self.released && self.tcp.is_done()
    }

    /// Frees its addresses once it is done.
    pub(crate) fn close_addresses(&self, context: &mut Context<'_>) {
        if self.tcp.is_done() {
            context.host.unregister(&self.tcp.tuple(), context.id);
        }
    }

    /// A new SYN may take the place of this connection.
    pub(crate) fn gives_way_to(&self, segment: &Segment) -> bool {
        self.tcp.gives_way_to(segment)
    }

    pub(crate) fn info(&self) -> ConnectionInfo {
        let tuple = self.tcp.tuple();
        ConnectionInfo {
            protocol: Protocol::Tcp,
            fallback: false,
            local: tuple.local,
            remote: tuple.remote,
            initiated_here: self.port.is_none(),
            token: None,
            multipath: None,
            send_queue_bytes: self.tcp.outstanding_bytes(),
            receive_queue_bytes: self.tcp.ready_bytes(),
        }
    }

    pub(crate) fn subflow(&self) -> SubflowInfo {
        SubflowInfo {
            id: ONLY,
            backup: None,
            local_id: None,
            remote_id: None,
            tcp: self.tcp.info(),
        }
    }

    pub(crate) fn subflow_detail(&self) -> SubflowDetail {
        SubflowDetail {
            info: self.subflow(),
            tcp: self.tcp.detail(),
            initiated_here: self.port.is_none(),
            stage: match self.tcp.state() {
                State::SynSent | State::SynReceived => "opening",
                State::Established | State::CloseWait => "established",
                _ => "closing",
            },
        }
    }

    pub(crate) fn counters(&self) -> &TcpCounters {
        self.tcp.counters()
    }
}
