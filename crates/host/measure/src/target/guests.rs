//! Connections that are served, and those of strangers among them: who has shown no authorisation
//! yet makes room for those who come later.

use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex};

/// Strangers of all, and of one address (of IPv6 one network of 64 bits).
const MOST_STRANGERS: usize = 64;
const MOST_STRANGERS_OF_ADDRESS: usize = 16;
/// All connections: more than strangers, sessions and an experiment's together, as one that was ended
/// for another takes a moment.
const MOST_CONNECTIONS: usize = 192;

/// The connections that there are.
#[derive(Default)]
pub(super) struct Guests {
    /// The oldest first.
    strangers: Vec<Stranger>,
    all: usize,
    next: u64,
}

struct Stranger {
    number: u64,
    network: IpAddr,
    socket: TcpStream,
}

/// A connection that is counted while it lasts.
pub(super) struct Guest {
    guests: Arc<Mutex<Guests>>,
    number: u64,
}

impl Guest {
    /// Counts a connection, and ends the oldest stranger's where there is no place; `None` where that
    /// does not help.
    pub(super) fn enter(
        guests: &Arc<Mutex<Guests>>,
        stream: &TcpStream,
        from: IpAddr,
    ) -> Option<Self> {
        let socket = stream.try_clone().ok()?;
        let network = network(from);
        let mut all = guests.lock().expect("no panic");
        let networks: Vec<_> = all.strangers.iter().map(|one| one.network).collect();
        if let Some(place) = without_place(&networks, network) {
            let oldest = all.strangers.remove(place);
            // Its thread ends then.
            let _ = oldest.socket.shutdown(Shutdown::Both);
        }
        if all.all >= MOST_CONNECTIONS {
            return None;
        }
        all.all += 1;
        all.next += 1;
        let number = all.next;
        all.strangers.push(Stranger {
            number,
            network,
            socket,
        });
        Some(Self {
            guests: Arc::clone(guests),
            number,
        })
    }

    /// It has shown an authorisation.
    pub(super) fn is_holder(&self) {
        let mut guests = self.guests.lock().expect("no panic");
        guests.strangers.retain(|one| one.number != self.number);
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.is_holder();
        self.guests.lock().expect("no panic").all -= 1;
    }
}

/// The stranger, of these in the order in which they came, that a newcomer takes the place of.
fn without_place(strangers: &[IpAddr], newcomer: IpAddr) -> Option<usize> {
    let of_network = strangers.iter().filter(|one| **one == newcomer).count();
    if of_network >= MOST_STRANGERS_OF_ADDRESS {
        return strangers.iter().position(|one| *one == newcomer);
    }
    (strangers.len() >= MOST_STRANGERS).then_some(0)
}

/// Addresses that one holder of a network has at will.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        four => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_stranger_makes_room() {
        let address = |last: usize| IpAddr::from([192, 0, 2, last as u8]);
        let mut strangers = vec![address(200)];
        strangers.extend([address(1); MOST_STRANGERS_OF_ADDRESS]);
        assert_eq!(without_place(&strangers, address(1)), Some(1));
        assert_eq!(without_place(&strangers, address(2)), None);
        let all: Vec<_> = (0..MOST_STRANGERS).map(address).collect();
        assert_eq!(without_place(&all, address(250)), Some(0));
    }
}
