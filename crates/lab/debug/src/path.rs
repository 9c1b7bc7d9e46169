//! Names of values: `connections[0].subflows[1].cwnd_bytes`.

use mptcplab_engine_sim::World;
use mptcplab_plan::Plan;
use mptcplab_stack::SubflowDetail;
use serde::Deserialize;

use crate::error::DebugError;
use crate::field::{Field, Value, named};
use crate::names::{link_named, node_named};
use crate::state::{
    CLIENT, DIRECTION, DirectionState, END, EndState, NODE, NodeState, SERVER, SUBFLOW, direction,
    end, node, sender, stack_of,
};

/// A part of a name: a word, or what stands in brackets.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Part {
    /// A number in brackets.
    Number(usize),
    /// A word, or a name in brackets.
    Word(String),
}

/// A value of the state, found in a world.
#[derive(Clone, Copy)]
pub(crate) enum Path {
    Now,
    Connections,
    End(Ref, &'static Field<EndState>),
    /// By the place among the subflows that there are.
    Subflow(Ref, usize, &'static Field<SubflowDetail>),
    Link(usize, usize, &'static Field<DirectionState>),
    Node(usize, &'static Field<NodeState>),
}

/// One end of a connection; the sender's where none is named.
#[derive(Clone, Copy)]
pub(crate) struct Ref {
    connection: usize,
    end: Option<usize>,
}

impl Path {
    /// Looks up a name.
    ///
    /// # Errors
    /// The first word that means nothing, with those that do.
    pub(crate) fn new(parts: &[Part], plan: &Plan) -> Result<Self, DebugError> {
        let words: Vec<Word<'_>> = parts.iter().map(Word::of).collect();
        match words[..] {
            [Word::Name("now_ns")] => Ok(Self::Now),
            [Word::Name("connections"), Word::Name("count")] => Ok(Self::Connections),
            [
                Word::Name("connections"),
                Word::Number(connection),
                ref rest @ ..,
            ] => of_connection(connection, rest),
            [
                Word::Name("links"),
                Word::Name(name),
                Word::Name("directions"),
                Word::Number(of),
                Word::Name(field),
            ] => {
                let link = link_named(plan, name)?;
                if of > 1 {
                    let problem = format!("a link has the directions 0 and 1, not {of}");
                    return Err(DebugError::Name(problem));
                }
                Ok(Self::Link(
                    link,
                    of,
                    named(DIRECTION, field, "a direction")?,
                ))
            }
            [Word::Name("hosts"), Word::Name(name), Word::Name(field)] => {
                let node = node_named(plan, name)?;
                Ok(Self::Node(node, named(NODE, field, "a host")?))
            }
            _ => Err(DebugError::Name(
                "a value is now_ns, connections.count, connections[N].…, \
                 links[NAME].directions[0 or 1].… or hosts[NAME].…"
                    .to_owned(),
            )),
        }
    }

    /// The value now.
    pub(crate) fn value(&self, world: &World) -> Value {
        self.found(world).unwrap_or(Value::None)
    }

    fn found(&self, world: &World) -> Option<Value> {
        match *self {
            Self::Now => Some(world.now().into()),
            Self::Connections => Some((world.opened_connections() as u64).into()),
            Self::End(of, field) => {
                let connection = world.opened_connection(of.connection)?;
                let side = of.end.unwrap_or_else(|| sender(&connection));
                Some((field.get)(&end(world, &connection, side)?))
            }
            Self::Subflow(of, place, field) => {
                let connection = world.opened_connection(of.connection)?;
                let side = of.end.unwrap_or_else(|| sender(&connection));
                let (stack, id) = stack_of(world, &connection, side)?;
                let subflow = *stack.subflow_ids(id).get(place)?;
                Some((field.get)(&stack.subflow_detail(id, subflow)?))
            }
            Self::Link(link, of, field) => Some((field.get)(&direction(world, link, of))),
            Self::Node(number, field) => Some((field.get)(&node(world, number))),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Word<'a> {
    Name(&'a str),
    Number(usize),
}

impl<'a> Word<'a> {
    fn of(part: &'a Part) -> Self {
        match part {
            Part::Number(number) => Self::Number(*number),
            Part::Word(word) => Self::Name(word),
        }
    }
}

fn of_connection(connection: usize, rest: &[Word<'_>]) -> Result<Path, DebugError> {
    let (end, rest) = match rest {
        [Word::Name("client"), rest @ ..] => (Some(CLIENT), rest),
        [Word::Name("server"), rest @ ..] => (Some(SERVER), rest),
        rest => (None, rest),
    };
    let of = Ref { connection, end };
    match *rest {
        [
            Word::Name("subflows"),
            Word::Number(subflow),
            Word::Name(field),
        ] => {
            let field = named(SUBFLOW, field, "a subflow")?;
            Ok(Path::Subflow(of, subflow, field))
        }
        [Word::Name(field)] => Ok(Path::End(of, named(END, field, "a connection")?)),
        _ => Err(DebugError::Name(
            "a value of a connection is connections[N].NAME, connections[N].client.NAME, \
             connections[N].server.NAME, or one with subflows[N] before the name"
                .to_owned(),
        )),
    }
}
