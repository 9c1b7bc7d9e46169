//! A switch of four ports with a controller, and the words to speak with it.

use bytes::Bytes;
use mptcplab_openflow::error::ErrorKind;
use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::group::{self, Bucket, GroupCommand, GroupMod, GroupType};
use mptcplab_openflow::multipart::{Part, Reply, Request};
use mptcplab_openflow::packet::{PacketIn, PacketOut};
use mptcplab_openflow::{Action, Body, Field, Instruction, Match, Message, Oxm, port};
use mptcplab_switch::{Account, Config, ControllerId, Output, PortSetup, QueueSetup, Switch};

pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const CONTROLLER: ControllerId = ControllerId(1);
const XID: u32 = 77;

/// A switch under test at a time.
pub(crate) struct Bench {
    pub(crate) switch: Switch,
    pub(crate) now_ns: u64,
}

/// Ports 1 to 4, of which port 2 has the queues 1 and 2.
pub(crate) fn config() -> Config {
    let mut ports: Vec<PortSetup> = (1..=4).map(PortSetup::new).collect();
    let queue = |queue| QueueSetup {
        queue,
        min_rate: Some(100),
        max_rate: None,
    };
    ports[1].queues = vec![queue(1), queue(2)];
    Config {
        ports,
        ..Config::default()
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(config())
    }

    pub(crate) fn with(config: Config) -> Self {
        let mut switch = Switch::new(config);
        switch.connect(CONTROLLER, &mut Vec::new());
        Self { switch, now_ns: 0 }
    }

    pub(crate) fn account(&self) -> Account {
        *self.switch.account()
    }

    /// A message of a controller, and all that comes of it.
    pub(crate) fn say_as(&mut self, controller: ControllerId, body: Body) -> Vec<Output> {
        let mut out = Vec::new();
        let message = Message::new(XID, body);
        self.switch
            .receive_message(self.now_ns, controller, &message, &mut out);
        out
    }

    pub(crate) fn say(&mut self, body: Body) -> Vec<Output> {
        self.say_as(CONTROLLER, body)
    }

    /// A message that is carried out without an answer, and the frames that go out.
    pub(crate) fn done(&mut self, body: Body) -> Vec<(u32, Vec<u8>)> {
        let out = self.say(body);
        assert_eq!(messages(&out), [], "an answer");
        frames(&out)
    }

    /// The error that a message is refused by.
    pub(crate) fn refused(&mut self, body: Body) -> ErrorKind {
        let out = self.say(body);
        match &messages(&out)[..] {
            [Body::Error(error)] => error.kind,
            other => panic!("{other:?}"),
        }
    }

    /// The only answer to a message.
    pub(crate) fn ask(&mut self, body: Body) -> Body {
        let mut bodies = messages(&self.say(body));
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        bodies.remove(0)
    }

    /// The only part of a reply.
    pub(crate) fn reply(&mut self, content: Request) -> Reply {
        let more = false;
        match self.ask(Body::MultipartRequest(Part { more, content })) {
            Body::MultipartReply(Part {
                more: false,
                content,
            }) => content,
            other => panic!("{other:?}"),
        }
    }

    /// A frame that comes in, and all that comes of it.
    pub(crate) fn receive(&mut self, port: u32, frame: &[u8]) -> Vec<Output> {
        let mut out = Vec::new();
        let frame = Bytes::copy_from_slice(frame);
        self.switch
            .receive_packet(self.now_ns, port, frame, &mut out);
        out
    }

    /// A frame that comes in, and the frames that go out.
    pub(crate) fn pass(&mut self, port: u32, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
        frames(&self.receive(port, frame))
    }

    /// Goes on to a time.
    pub(crate) fn advance(&mut self, now_ns: u64) -> Vec<Body> {
        let mut out = Vec::new();
        self.now_ns = now_ns;
        self.switch.advance(now_ns, &mut out);
        messages(&out)
    }
}

/// Messages to controllers, whichever.
pub(crate) fn messages(out: &[Output]) -> Vec<Body> {
    let body = |one: &Output| match one {
        Output::Message { message, .. } => Some(message.body.clone()),
        _ => None,
    };
    out.iter().filter_map(body).collect()
}

/// Packets to controllers.
pub(crate) fn packet_ins(out: &[Output]) -> Vec<PacketIn> {
    let packet = |body| match body {
        Body::PacketIn(packet) => Some(packet),
        _ => None,
    };
    messages(out).into_iter().filter_map(packet).collect()
}

/// Frames that go out, by port.
pub(crate) fn frames(out: &[Output]) -> Vec<(u32, Vec<u8>)> {
    let frame = |one: &Output| match one {
        Output::Packet { port, frame, .. } => Some((*port, frame.to_vec())),
        _ => None,
    };
    out.iter().filter_map(frame).collect()
}

pub(crate) fn output(port: u32) -> Action {
    Action::Output { port, max_len: 0 }
}

/// The packet to the controller as a whole, without a buffer.
pub(crate) fn to_controller() -> Action {
    Action::Output {
        port: port::number::CONTROLLER,
        max_len: mptcplab_openflow::action::NO_BUFFER_LEN,
    }
}

pub(crate) fn apply(actions: impl IntoIterator<Item = Action>) -> Vec<Instruction> {
    vec![Instruction::ApplyActions(actions.into_iter().collect())]
}

/// An entry of table 0 and priority 100, to be added.
pub(crate) fn flow(
    fields: impl IntoIterator<Item = Oxm>,
    instructions: Vec<Instruction>,
) -> FlowMod {
    FlowMod {
        cookie: 0,
        cookie_mask: 0,
        table: 0,
        command: FlowCommand::Add,
        idle_timeout: 0,
        hard_timeout: 0,
        priority: 100,
        buffer: None,
        out_port: port::number::ANY,
        out_group: group::number::ANY,
        flags: FlowFlags::empty(),
        fields: Match::new(fields),
        instructions,
    }
}

pub(crate) fn packet_out(actions: Vec<Action>, data: &[u8]) -> Body {
    Body::PacketOut(PacketOut {
        buffer: None,
        in_port: port::number::CONTROLLER,
        actions,
        data: data.to_vec(),
    })
}

pub(crate) fn bucket(actions: impl IntoIterator<Item = Action>) -> Bucket {
    Bucket {
        weight: 1,
        watch_port: port::number::ANY,
        watch_group: group::number::ANY,
        actions: actions.into_iter().collect(),
    }
}

pub(crate) fn group_mod(
    command: GroupCommand,
    group_type: GroupType,
    group: u32,
    buckets: Vec<Bucket>,
) -> Body {
    Body::GroupMod(GroupMod {
        command,
        group_type,
        group,
        buckets,
    })
}

pub(crate) fn ether_type(value: u16) -> Oxm {
    Oxm::exact(Field::EthType, value)
}

pub(crate) fn ip_proto(value: u8) -> Oxm {
    Oxm::exact(Field::IpProto, value)
}
