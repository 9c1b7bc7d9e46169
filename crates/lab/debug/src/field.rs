//! Values of state, and the names by which they are found.

use std::cmp::Ordering;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::error::DebugError;

/// A value of the state.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Value {
    /// There is none: the thing is not there, or has no such value yet.
    None,
    /// Yes or no.
    Bool(bool),
    /// A number in the unit of the name.
    Number(u64),
    /// A name or an address.
    Text(String),
}

impl Value {
    /// The order of two values of one kind.
    pub(crate) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => Some(one.cmp(other)),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            (Self::Bool(one), Self::Bool(other)) => Some(one.cmp(other)),
            (Self::None, Self::None) => Some(Ordering::Equal),
            _ => None,
        }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u8> for Value {
    fn from(number: u8) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<SocketAddr> for Value {
    fn from(address: SocketAddr) -> Self {
        Self::Text(address.to_string())
    }
}

impl From<IpAddr> for Value {
    fn from(address: IpAddr) -> Self {
        Self::Text(address.to_string())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, T::into)
    }
}

/// A field of a thing: its name, and how it is read.
pub(crate) struct Field<T> {
    pub(crate) name: &'static str,
    pub(crate) get: fn(&T) -> Value,
}

/// The field of a name.
///
/// # Errors
/// There is none; names those that there are.
pub(crate) fn named<T>(
    fields: &'static [Field<T>],
    name: &str,
    of: &str,
) -> Result<&'static Field<T>, DebugError> {
    let found = fields.iter().find(|field| field.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = fields.iter().map(|field| field.name).collect();
        DebugError::Name(format!("{of} has no {name:?}; it has {}", names.join(", ")))
    })
}

/// The fields of a thing as an object of JSON.
pub(crate) fn object<T>(fields: &[Field<T>], of: &T) -> serde_json::Map<String, serde_json::Value> {
    let read = |field: &Field<T>| {
        let value = serde_json::to_value((field.get)(of)).unwrap_or_default();
        (field.name.to_owned(), value)
    };
    fields.iter().map(read).collect()
}
