//! Connections by token.

use std::collections::HashMap;

use super::connection::Connection;
use crate::Side;

/// Most connections with the same token that are compared, the newest first. A token has 32 bits:
/// among hundreds of thousands of connections a few collide.
pub(super) const SAME_TOKEN: usize = 8;

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) connection: u32,
    pub(super) side: Side,
}

/// The newest end with each token.
#[derive(Debug, Default)]
pub(super) struct Tokens(HashMap<u32, Owner>);

impl Tokens {
    /// Lets `token` name an end of a connection, and links that end to the one named before.
    pub(super) fn insert(&mut self, token: u32, owner: Owner, connections: &mut [Connection]) {
        let connection = &mut connections[owner.connection as usize];
        connection.tokens[owner.side] = Some(token);
        connection.same_token[owner.side] = self.0.insert(token, owner);
    }

    /// Iterates over the ends with this token, the newest first.
    pub(super) fn owners<'a>(
        &self,
        token: u32,
        connections: &'a [Connection],
    ) -> impl Iterator<Item = Owner> + use<'a> {
        let newest = self.0.get(&token).copied();
        std::iter::successors(newest, |owner| {
            connections[owner.connection as usize].same_token[owner.side]
        })
        .take(SAME_TOKEN)
    }
}
