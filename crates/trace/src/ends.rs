//! A value for each end.

use std::ops::{Index, IndexMut};

use crate::Side;

/// A value for each end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends<T> {
    /// The client's.
    pub client: T,
    /// The server's.
    pub server: T,
}

impl<T> Ends<T> {
    /// Computes the value for each end.
    pub fn of(mut each: impl FnMut(Side) -> T) -> Self {
        Self {
            client: each(Side::Client),
            server: each(Side::Server),
        }
    }

    /// Returns the value of `side` and that of the other end.
    #[inline]
    pub fn pair_mut(&mut self, side: Side) -> (&mut T, &mut T) {
        match side {
            Side::Client => (&mut self.client, &mut self.server),
            Side::Server => (&mut self.server, &mut self.client),
        }
    }
}

impl<T> Index<Side> for Ends<T> {
    type Output = T;

    #[inline]
    fn index(&self, side: Side) -> &T {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }
}

impl<T> IndexMut<Side> for Ends<T> {
    #[inline]
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_names_its_own() {
        let mut ends = Ends::of(|side| side == Side::Client);
        assert!(ends[Side::Client] && !ends[Side::Server]);
        ends[Side::Server] = true;
        assert_eq!(
            ends,
            Ends {
                client: true,
                server: true
            }
        );
    }
}
