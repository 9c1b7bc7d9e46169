//! Conditions on the state.

use std::cmp::Ordering;

use mptcplab_engine_sim::World;
use mptcplab_plan::Plan;
use serde::Deserialize;

use crate::error::DebugError;
use crate::field::Value;
use crate::path::{Part, Path};

/// A condition, as its words are read: names are not looked up yet.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// All hold.
    All(Vec<Self>),
    /// One holds at least.
    Any(Vec<Self>),
    /// A comparison: `left`, one of `<`, `<=`, `>`, `>=`, `==`, `!=`, `right`.
    Compare(Operand, String, Operand),
}

/// A side of a comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operand {
    /// A value of the state, by its name.
    Path(Vec<Part>),
    /// A value.
    Value(Value),
}

/// A condition whose names have been looked up.
#[derive(Clone)]
pub(crate) enum Test {
    All(Vec<Self>),
    Any(Vec<Self>),
    Compare(Side, Operator, Side),
}

#[derive(Clone)]
pub(crate) enum Side {
    Path(Path),
    Value(Value),
}

#[derive(Clone, Copy)]
pub(crate) enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
}

impl Test {
    /// Looks up the names of a condition.
    ///
    /// # Errors
    /// A name that means nothing.
    pub(crate) fn new(condition: &Condition, plan: &Plan) -> Result<Self, DebugError> {
        let all = |of: &[Condition]| -> Result<Vec<_>, _> {
            of.iter().map(|one| Self::new(one, plan)).collect()
        };
        Ok(match condition {
            Condition::All(of) => Self::All(all(of)?),
            Condition::Any(of) => Self::Any(all(of)?),
            Condition::Compare(left, operator, right) => Self::Compare(
                Side::new(left, plan)?,
                Operator::new(operator)?,
                Side::new(right, plan)?,
            ),
        })
    }

    /// Whether it holds now. A value that is not there equals `none` alone, and is neither less nor
    /// greater than anything.
    pub(crate) fn holds(&self, world: &World) -> bool {
        match self {
            Self::All(of) => of.iter().all(|one| one.holds(world)),
            Self::Any(of) => of.iter().any(|one| one.holds(world)),
            Self::Compare(left, operator, right) => {
                let (left, right) = (left.value(world), right.value(world));
                operator.accepts(left.order(&right))
            }
        }
    }
}

impl Side {
    fn new(operand: &Operand, plan: &Plan) -> Result<Self, DebugError> {
        match operand {
            Operand::Path(parts) => Path::new(parts, plan).map(Self::Path),
            Operand::Value(value) => Ok(Self::Value(value.clone())),
        }
    }

    fn value(&self, world: &World) -> Value {
        match self {
            Self::Path(path) => path.value(world),
            Self::Value(value) => value.clone(),
        }
    }
}

impl Operator {
    fn new(text: &str) -> Result<Self, DebugError> {
        Ok(match text {
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "==" => Self::Equal,
            "!=" => Self::Unequal,
            _ => return Err(DebugError::Name(format!("there is no operator {text:?}"))),
        })
    }

    fn accepts(self, order: Option<Ordering>) -> bool {
        match (self, order) {
            (Self::Unequal, order) => order != Some(Ordering::Equal),
            (_, None) => false,
            (Self::Less, Some(order)) => order.is_lt(),
            (Self::LessOrEqual, Some(order)) => order.is_le(),
            (Self::Greater, Some(order)) => order.is_gt(),
            (Self::GreaterOrEqual, Some(order)) => order.is_ge(),
            (Self::Equal, Some(order)) => order.is_eq(),
        }
    }
}
