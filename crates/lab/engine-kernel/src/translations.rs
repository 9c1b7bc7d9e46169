//! The addresses that middleboxes give to the senders of segments, as they are seen on the links.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Boxes one behind the other that a search follows.
const MOST_BOXES: usize = 16;

/// Outer addresses by inner ones: shared by the links, which see each translation, and the traffic,
/// which finds the two ends of a connection by the address of its client.
#[derive(Clone, Debug, Default)]
pub struct Translations(Arc<Mutex<HashMap<SocketAddr, SocketAddr>>>);

impl Translations {
    /// Notes that what comes to a middlebox from `inner` leaves it as of `outer`.
    pub fn note(&self, inner: SocketAddr, outer: SocketAddr) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(inner, outer);
    }

    /// The address by which the far end knows what is sent from `address`: so far, the same where no
    /// box has translated it.
    pub fn outermost(&self, address: SocketAddr) -> SocketAddr {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = address;
        for _ in 0..MOST_BOXES {
            match known.get(&at) {
                Some(&outer) => at = outer,
                None => break,
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_followed_through_boxes_one_behind_the_other() {
        let [host, first, second] = ["10.0.1.1:4000", "10.0.2.9:4000", "[2001:db8::9]:5000"]
            .map(|address| address.parse().unwrap());
        let translations = Translations::default();
        assert_eq!(translations.outermost(host), host);
        translations.note(first, second);
        assert_eq!(translations.outermost(host), host);
        translations.clone().note(host, first);
        assert_eq!(translations.outermost(host), second);
        // Boxes that undo each other end the search all the same.
        translations.note(second, host);
        translations.outermost(host);
    }
}
