//! Whose token is it?

use std::collections::HashMap;

use super::connection::Connection;
use crate::Side;

/// Connections with the same token that are looked through, the newest first. A token has 32
/// bits: hundreds of thousands of connections have a few that meet.
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
    /// Lets `token` name an end of a connection, in whose entry the end stands that it named.
    pub(super) fn insert(&mut self, token: u32, owner: Owner, connections: &mut [Connection]) {
        let connection = &mut connections[owner.connection as usize];
        connection.tokens[owner.side] = Some(token);
        connection.same_token[owner.side] = self.0.insert(token, owner);
    }

    /// The ends with this token, the newest first.
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
