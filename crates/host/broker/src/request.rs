//! A request as it was received.

use mptcplab_subflow::Error;

/// A message from a client.
pub struct Received<'a, S> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// It was longer than a request may be.
    pub is_cut: bool,
    /// The sockets that came with it.
    pub sockets: Vec<S>,
    /// More came than are here.
    pub sockets_are_cut: bool,
}

impl<S> Received<'_, S> {
    /// Takes the one socket that a request is about.
    pub(crate) fn into_socket(self) -> Result<S, Error> {
        let mut sockets = self.sockets.into_iter();
        match (sockets.next(), sockets.next()) {
            (Some(socket), None) if !self.sockets_are_cut => Ok(socket),
            (None, _) if self.sockets_are_cut => Err(Error::TooMany {
                reason: "the broker has no room for another descriptor".to_owned(),
            }),
            (None, _) => Err(protocol("no descriptor came with the request")),
            _ => Err(protocol("more than one descriptor came with the request")),
        }
    }
}

/// A violation of the protocol.
pub(crate) fn protocol(reason: &str) -> Error {
    Error::Protocol {
        reason: reason.to_owned(),
    }
}

/// A request of a session that has ended.
pub(crate) fn hung_up() -> Error {
    protocol("this session has ended")
}
