//! The protocol between programs and the broker.
//!
//! Over a Unix socket of type SOCK_SEQPACKET, so that a message is whole or not there: one JSON object
//! each, of at most [`MESSAGE_BYTES`]. A request carries the descriptor of the socket that it is about
//! (SCM_RIGHTS): the holder of a socket may steer its connection, and no other can be named. Replies
//! come in any order and name their request.
//!
//! A request to watch turns the session into one of events: its reply and then one message an event, until
//! either side closes.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::path_manager::Open;
use crate::{Error, SubflowEvent};

/// Version of this protocol.
pub const VERSION: u32 = 1;

/// The most bytes of a message.
pub const MESSAGE_BYTES: usize = 4096;

/// The most bytes of an option's value.
pub const OPTION_BYTES: usize = 256;

/// A request of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// [`VERSION`].
    pub version: u32,
    /// Names the request in its reply.
    pub id: u64,
    /// The command; `command` is read too, and `order` written, which every broker reads.
    #[serde(rename = "order", alias = "command")]
    pub command: Command,
}

/// A command about the connection of the socket that comes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Open a subflow; answered when it is established, or not.
    Open(Open),
    /// Close a subflow.
    Close {
        /// Its id.
        subflow: u32,
    },
    /// Change a subflow's priority.
    SetBackup {
        /// Its id.
        subflow: u32,
        /// It becomes a backup.
        backup: bool,
    },
    /// Announce an address.
    Announce {
        /// The address; port 0 is none.
        address: SocketAddr,
    },
    /// Withdraw an address.
    Withdraw {
        /// Its id.
        address_id: u8,
    },
    /// Read an option of a subflow.
    GetOption {
        /// The subflow's id.
        subflow: u32,
        /// SOL_SOCKET, IPPROTO_TCP …
        level: i32,
        /// The option.
        option: i32,
        /// The most bytes of its value.
        length: usize,
    },
    /// Set an option on a subflow.
    SetOption {
        /// The subflow's id.
        subflow: u32,
        /// SOL_SOCKET, IPPROTO_TCP …
        level: i32,
        /// The option.
        option: i32,
        /// Its value, as setsockopt(2) takes it.
        value: Vec<u8>,
    },
    /// Send the events from now on.
    Watch {},
}

/// A message of the broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// It was done.
    Done {
        /// The request's name.
        id: u64,
        /// Its result.
        answer: Answer,
    },
    /// It was not done.
    Failed {
        /// The request's name; 0 where it could not be read.
        id: u64,
        /// Why.
        error: Error,
    },
    /// Something happened to the watched connection. The program finds the subflow's id itself.
    Event(SubflowEvent),
    /// Something happened and is not known: the kernel had no room for it.
    Lost {},
}

/// Result of a command that was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Nothing.
    Nothing {},
    /// Id of the subflow that was opened.
    Subflow(u32),
    /// Id of the address that was announced.
    Address(u8),
    /// Value of an option.
    Value(Vec<u8>),
}

impl Request {
    /// Reads a request from a datagram.
    ///
    /// # Errors
    /// [`Error::Protocol`] for anything else, and for another version.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let request: Self =
            serde_json::from_slice(bytes).map_err(|error| not_understood(&error))?;
        if request.version != VERSION {
            let reason = format!("version {} of the protocol, not {VERSION}", request.version);
            return Err(Error::Protocol { reason });
        }
        Ok(request)
    }

    /// The request as a datagram.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a request has string keys only")
    }
}

impl Message {
    /// Reads a message from a datagram.
    ///
    /// # Errors
    /// [`Error::Protocol`] for anything else.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(bytes).map_err(|error| not_understood(&error))
    }

    /// The message as a datagram.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a message has string keys only")
    }
}

fn not_understood(error: &serde_json::Error) -> Error {
    Error::Protocol {
        reason: error.to_string(),
    }
}

/// An answer that does not fit its request.
pub(crate) fn unexpected() -> Error {
    Error::Protocol {
        reason: "the broker's answer is to something else".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn command() -> impl Strategy<Value = Command> {
        let address = || any::<SocketAddr>().prop_map(without_scope);
        let bytes = || prop::collection::vec(any::<u8>(), 0..OPTION_BYTES);
        let open = (
            address(),
            prop::option::of(address()),
            any::<bool>(),
            prop::option::of("[a-z0-9]{1,15}"),
            any::<u32>(),
        );
        prop_oneof![
            open.prop_map(
                |(local, remote, backup, interface, ms)| Command::Open(Open {
                    local,
                    remote,
                    backup,
                    interface,
                    timeout: Duration::from_millis(ms.into()),
                })
            ),
            any::<u32>().prop_map(|subflow| Command::Close { subflow }),
            (any::<u32>(), any::<bool>())
                .prop_map(|(subflow, backup)| Command::SetBackup { subflow, backup }),
            address().prop_map(|address| Command::Announce { address }),
            any::<u8>().prop_map(|address_id| Command::Withdraw { address_id }),
            (any::<u32>(), any::<i32>(), any::<i32>(), bytes()).prop_map(
                |(subflow, level, option, value)| Command::SetOption {
                    subflow,
                    level,
                    option,
                    value
                }
            ),
            Just(Command::Watch {}),
        ]
    }

    /// Flow labels and scopes have no text form.
    fn without_scope(address: SocketAddr) -> SocketAddr {
        SocketAddr::new(address.ip(), address.port())
    }

    proptest! {
        #[test]
        fn a_request_is_read_as_it_was_written(id: u64, command in command()) {
            let request = Request { version: VERSION, id, command };
            let bytes = request.to_bytes();
            prop_assert!(bytes.len() <= MESSAGE_BYTES);
            prop_assert_eq!(Request::parse(&bytes), Ok(request));
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = Request::parse(&bytes);
            let _ = Message::parse(&bytes);
        }
    }

    #[test]
    fn a_command_has_two_names_of_which_one_is_given() {
        let close = r#"{"close": {"subflow": 3}}"#;
        for name in ["order", "command"] {
            let request = format!(r#"{{"version": 1, "id": 1, "{name}": {close}}}"#);
            let command = Request::parse(request.as_bytes()).unwrap().command;
            assert_eq!(command, Command::Close { subflow: 3 });
        }
        let both = format!(r#"{{"version": 1, "id": 1, "order": {close}, "command": {close}}}"#);
        let error = Request::parse(both.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("duplicate field"), "{error}");
    }

    #[test]
    fn another_version_is_refused() {
        let request = br#"{"version": 2, "id": 1, "order": {"close": {"subflow": 3}}}"#;
        let error = Request::parse(request).unwrap_err();
        assert_eq!(
            error.to_string(),
            "not understood: version 2 of the protocol, not 1"
        );
    }

    #[test]
    fn an_error_passes_through_whole() {
        let failed = Message::Failed {
            id: 7,
            error: Error::NoSuchSubflow { id: 3 },
        };
        assert_eq!(Message::parse(&failed.to_bytes()), Ok(failed));
    }
}
