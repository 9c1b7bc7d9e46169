//! Messages of controllers, and their answers (section 7.3).

use bytes::Bytes;
use mptcplab_openflow::error::{
    BadRequest, ErrorKind, ErrorMessage, GroupModFailed, HelloFailed, MeterModFailed,
    PortModFailed, QueueOpFailed, SwitchConfigFailed, TableModFailed,
};
use mptcplab_openflow::flow::{ALL_TABLES, FlowRemovedReason};
use mptcplab_openflow::group::{GroupCommand, GroupMod};
use mptcplab_openflow::meter::{BandKind, MeterCommand, MeterFlags, MeterMod, number};
use mptcplab_openflow::packet::PacketOut;
use mptcplab_openflow::port::{PortConfig, PortMod, PortReason};
use mptcplab_openflow::queue::QueueConfig;
use mptcplab_openflow::setup::{Role, SwitchConfig, TableMod, fragments};
use mptcplab_openflow::{Action, Body, Hello, Message, answer, port};

use crate::check;
use crate::controller::ControllerId;
use crate::features::{MAX_BANDS, METER_FLAGS};
use crate::group::Limits;
use crate::meter::Meter;
use crate::output::Output;
use crate::switch::Switch;

/// Bits of a port's configuration that the specification has.
const KNOWN_PORT_CONFIG: PortConfig = PortConfig::PORT_DOWN
    .union(PortConfig::NO_RECV)
    .union(PortConfig::NO_FWD)
    .union(PortConfig::NO_PACKET_IN);

impl Switch {
    /// Carries out a message, and answers it if it needs an answer.
    pub(crate) fn answer(
        &mut self,
        now_ns: u64,
        controller: ControllerId,
        message: &Message,
        out: &mut Vec<Output>,
    ) {
        let reply = |body: Body, out: &mut Vec<Output>| {
            let message = Message::new(message.xid, body);
            out.push(Output::Message {
                controller,
                message,
            });
        };
        match self.carry_out(now_ns, controller, &message.body, out) {
            Ok(bodies) => bodies.into_iter().for_each(|body| reply(body, out)),
            Err(kind) => {
                let mut request = Vec::new();
                // A message that has come is not too long to be written.
                let _ = message.encode(&mut request);
                out.push(Output::Message {
                    controller,
                    message: answer(message.xid, kind, &request),
                });
            }
        }
    }

    fn carry_out(
        &mut self,
        now_ns: u64,
        controller: ControllerId,
        body: &Body,
        out: &mut Vec<Output>,
    ) -> Result<Vec<Body>, ErrorKind> {
        let Some(own) = self.controllers.get_mut(controller) else {
            return Err(BadRequest::Eperm.into());
        };
        let changes = matches!(
            body,
            Body::PacketOut(_)
                | Body::FlowMod(_)
                | Body::GroupMod(_)
                | Body::PortMod(_)
                | Body::TableMod(_)
                | Body::MeterMod(_)
        );
        if own.role == Role::Slave && changes {
            return Err(BadRequest::IsSlave.into());
        }
        let mut replies = Vec::new();
        match body {
            Body::Hello(hello) => self.take_hello(controller, hello, out),
            Body::EchoRequest(data) => replies.push(Body::EchoReply(data.clone())),
            Body::FeaturesRequest => replies.push(Body::FeaturesReply(self.features())),
            Body::GetConfigRequest => replies.push(Body::GetConfigReply(self.settings)),
            Body::SetConfig(settings) => self.set_config(*settings)?,
            Body::PacketOut(request) => self.packet_out(now_ns, request, out)?,
            Body::FlowMod(request) => self.flow_mod(now_ns, request, out)?,
            Body::GroupMod(request) => self.group_mod(now_ns, request, out)?,
            Body::PortMod(request) => self.port_mod(request, out)?,
            Body::TableMod(request) => self.table_mod(*request)?,
            Body::MeterMod(request) => self.meter_mod(now_ns, request, out)?,
            Body::MultipartRequest(part) => {
                if part.more {
                    return Err(BadRequest::MultipartBufferOverflow.into());
                }
                let parts = self.multipart(now_ns, &part.content)?;
                replies.extend(parts.into_iter().map(Body::MultipartReply));
            }
            // Everything before it has been done.
            Body::BarrierRequest => replies.push(Body::BarrierReply),
            Body::QueueGetConfigRequest(port) => {
                replies.push(Body::QueueGetConfigReply(self.queues(*port)?));
            }
            Body::RoleRequest(request) => {
                let role = self.controllers.request(controller, *request)?;
                replies.push(Body::RoleReply(role));
            }
            Body::GetAsyncRequest => replies.push(Body::GetAsyncReply(own.asynchronous)),
            Body::SetAsync(wanted) => own.asynchronous = *wanted,
            Body::Experimenter(_) => return Err(BadRequest::BadExperimenter.into()),
            // Answers to what a switch has not asked are ignored.
            Body::Error(_) | Body::EchoReply(_) => {}
            Body::FeaturesReply(_)
            | Body::GetConfigReply(_)
            | Body::PacketIn(_)
            | Body::FlowRemoved(_)
            | Body::PortStatus(_)
            | Body::MultipartReply(_)
            | Body::BarrierReply
            | Body::QueueGetConfigReply(_)
            | Body::RoleReply(_)
            | Body::GetAsyncReply(_) => return Err(BadRequest::BadType.into()),
        }
        Ok(replies)
    }

    /// Closes the connection of a controller that does not speak version 1.3.
    fn take_hello(&mut self, controller: ControllerId, hello: &Hello, out: &mut Vec<Output>) {
        if !hello.agrees() {
            let error = Body::Error(ErrorMessage {
                kind: HelloFailed::Incompatible.into(),
                data: b"this switch speaks OpenFlow 1.3 alone".to_vec(),
            });
            out.push(Output::Message {
                controller,
                message: Message::new(0, error),
            });
            out.push(Output::Close(controller));
            self.controllers.remove(controller);
        }
    }

    fn set_config(&mut self, settings: SwitchConfig) -> Result<(), ErrorKind> {
        if !matches!(settings.flags, fragments::NORMAL | fragments::DROP) {
            return Err(SwitchConfigFailed::BadFlags.into());
        }
        self.settings = settings;
        Ok(())
    }

    fn packet_out(
        &mut self,
        now_ns: u64,
        request: &PacketOut,
        out: &mut Vec<Output>,
    ) -> Result<(), ErrorKind> {
        let in_port = request.in_port;
        if in_port != port::number::CONTROLLER && !self.ports.contains_key(&in_port) {
            return Err(BadRequest::BadPort.into());
        }
        check::actions(&request.actions, None, true, self)?;
        match request.buffer {
            Some(buffer) => {
                self.release(now_ns, buffer, Some(in_port), Some(&request.actions), out)
            }
            None => {
                let frame = Bytes::copy_from_slice(&request.data);
                self.account.injected += 1;
                self.process(now_ns, in_port, frame, Some(&request.actions), out);
                Ok(())
            }
        }
    }

    /// Takes a packet out of its buffer, and processes it by actions or, without any, by the
    /// tables.
    pub(crate) fn release(
        &mut self,
        now_ns: u64,
        buffer: u32,
        in_port: Option<u32>,
        actions: Option<&[Action]>,
        out: &mut Vec<Output>,
    ) -> Result<(), ErrorKind> {
        let (received_by, frame) = self.buffers.take(buffer)?;
        self.account.unbuffered += 1;
        let in_port = in_port.unwrap_or(received_by);
        self.process(now_ns, in_port, frame, actions, out);
        Ok(())
    }

    fn group_mod(
        &mut self,
        now_ns: u64,
        request: &GroupMod,
        out: &mut Vec<Output>,
    ) -> Result<(), ErrorKind> {
        if request.command == GroupCommand::Delete {
            let deleted = self.groups.delete(request.group)?;
            let uses =
                |action: &Action| matches!(action, Action::Group(group) if deleted.contains(group));
            let reason = FlowRemovedReason::GroupDelete;
            self.remove_users(
                now_ns,
                reason,
                |entry| entry.instructions.actions().any(uses),
                out,
            );
            return Ok(());
        }
        for bucket in &request.buckets {
            let to_itself = bucket.actions.contains(&Action::Group(request.group));
            if to_itself {
                return Err(GroupModFailed::Loop.into());
            }
            check::actions(&bucket.actions, None, false, self)?;
        }
        let limits = Limits {
            groups: self.config.max_groups,
            buckets: self.config.max_buckets,
        };
        let ports = &self.ports;
        let has_port = |port| ports.contains_key(&port);
        match request.command {
            GroupCommand::Add => self.groups.add(request, limits, now_ns, has_port)?,
            _ => self.groups.modify(request, limits, now_ns, has_port)?,
        }
        Ok(())
    }

    fn meter_mod(
        &mut self,
        now_ns: u64,
        request: &MeterMod,
        out: &mut Vec<Output>,
    ) -> Result<(), ErrorKind> {
        if request.command == MeterCommand::Delete {
            let is_all = request.meter == number::ALL;
            self.meters
                .retain(|meter, _| !is_all && *meter != request.meter);
            let uses = |meter: Option<u32>| meter.is_some_and(|one| is_all || one == request.meter);
            let reason = FlowRemovedReason::Delete;
            self.remove_users(now_ns, reason, |entry| uses(entry.instructions.meter), out);
            return Ok(());
        }
        let is_there = self.meters.contains_key(&request.meter);
        match request.command {
            MeterCommand::Add if is_there => return Err(MeterModFailed::MeterExists.into()),
            MeterCommand::Modify if !is_there => return Err(MeterModFailed::UnknownMeter.into()),
            MeterCommand::Add if self.meters.len() >= self.config.max_meters as usize => {
                return Err(MeterModFailed::OutOfMeters.into());
            }
            _ => {}
        }
        check_meter(request)?;
        let new = || Meter::new(request.flags, &request.bands, now_ns);
        let meter = self.meters.entry(request.meter).or_insert_with(new);
        meter.set(request.flags, &request.bands, now_ns);
        Ok(())
    }

    fn port_mod(&mut self, request: &PortMod, out: &mut Vec<Output>) -> Result<(), ErrorKind> {
        let found = self.ports.get_mut(&request.port);
        let found = found.ok_or(PortModFailed::BadPort)?;
        if found.setup.hw_addr != request.hw_addr {
            return Err(PortModFailed::BadHwAddr.into());
        }
        if !KNOWN_PORT_CONFIG.contains(request.config | request.mask) {
            return Err(PortModFailed::BadConfig.into());
        }
        if request.advertise != 0 {
            return Err(PortModFailed::BadAdvertise.into());
        }
        let config = found.config & !request.mask | request.config & request.mask;
        if config != found.config {
            found.config = config;
            self.groups.ports_changed();
            self.tell_port(PortReason::Modify, request.port, out);
        }
        Ok(())
    }

    /// Nothing of a table can be configured in version 1.3 (section 7.3.4.1).
    fn table_mod(&self, request: TableMod) -> Result<(), ErrorKind> {
        if request.table >= self.config.tables && request.table != ALL_TABLES {
            return Err(TableModFailed::BadTable.into());
        }
        if request.config != 0 {
            return Err(TableModFailed::BadConfig.into());
        }
        Ok(())
    }

    fn queues(&self, port: u32) -> Result<QueueConfig, ErrorKind> {
        let queues = if port == port::number::ANY {
            let ports = self.ports.values();
            ports.flat_map(|found| found.packet_queues()).collect()
        } else {
            let found = self.ports.get(&port).ok_or(QueueOpFailed::BadPort)?;
            found.packet_queues().collect()
        };
        Ok(QueueConfig { port, queues })
    }
}

fn check_meter(request: &MeterMod) -> Result<(), MeterModFailed> {
    if !(1..=number::MAX).contains(&request.meter) {
        return Err(MeterModFailed::InvalidMeter);
    }
    let has_both = request.flags.contains(MeterFlags::KBPS | MeterFlags::PKTPS);
    if !METER_FLAGS.contains(request.flags) || has_both {
        return Err(MeterModFailed::BadFlags);
    }
    if request.bands.len() > MAX_BANDS.into() {
        return Err(MeterModFailed::OutOfBands);
    }
    for band in &request.bands {
        match band.kind {
            BandKind::Experimenter { .. } => return Err(MeterModFailed::BadBand),
            _ if band.rate == 0 => return Err(MeterModFailed::BadRate),
            _ => {}
        }
    }
    Ok(())
}
