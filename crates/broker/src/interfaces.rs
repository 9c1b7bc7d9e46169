//! Which interfaces have an address (rtnetlink, `linux/rtnetlink.h`).

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;

use mptcplab_kernel::bytes::{address_at, u8_at, u32_at};
use mptcplab_kernel::dump::{Dumper, attributes};

const RTM_GETLINK: u16 = 18;
const RTM_GETADDR: u16 = 22;
/// `struct ifinfomsg`
const LINK_HEADER_BYTES: usize = 16;
/// `struct ifaddrmsg`
const ADDRESS_HEADER_BYTES: usize = 8;
const IFLA_IFNAME: u16 = 3;
/// A list of `IFLA_ALT_IFNAME`.
const IFLA_PROP_LIST: u16 = 52;
const IFLA_ALT_IFNAME: u16 = 53;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;

/// Answers questions about the interfaces of one namespace.
pub(crate) struct Interfaces {
    netlink: Dumper,
}

impl Interfaces {
    /// Those of the calling thread's namespace.
    ///
    /// # Errors
    /// What socket(2) and bind(2) give.
    pub(crate) fn open() -> io::Result<Self> {
        let netlink = Dumper::open(libc::NETLINK_ROUTE)?;
        Ok(Self { netlink })
    }

    /// Names of the interfaces that have an address; more than one may have it.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn with(&mut self, address: IpAddr) -> io::Result<Vec<String>> {
        let mut indices = Vec::new();
        let request = [0; ADDRESS_HEADER_BYTES];
        self.netlink.dump(RTM_GETADDR, &request, |message| {
            if has(message, address) == Some(true) {
                indices.extend(u32_at(message, 4));
            }
        })?;
        if indices.is_empty() {
            return Ok(Vec::new());
        }
        let mut names = HashMap::new();
        let request = [0; LINK_HEADER_BYTES];
        self.netlink.dump(RTM_GETLINK, &request, |message| {
            names.extend(u32_at(message, 4).zip(name(message)));
        })?;
        indices.dedup();
        // One that has just gone has no address either.
        Ok(indices
            .iter()
            .filter_map(|index| names.remove(index))
            .collect())
    }

    /// What the interface is called that has this name, or has it besides its own.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn name(&mut self, of: &str) -> io::Result<Option<String>> {
        let mut found = None;
        let request = [0; LINK_HEADER_BYTES];
        self.netlink.dump(RTM_GETLINK, &request, |message| {
            if is_called(message, of.as_bytes()) {
                found = name(message);
            }
        })?;
        Ok(found)
    }
}

/// Whether the address of a message is this one.
fn has(message: &[u8], address: IpAddr) -> Option<bool> {
    let family = u16::from(u8_at(message, 0)?);
    let (mut local, mut other) = (None, None);
    for (kind, value) in attributes(message.get(ADDRESS_HEADER_BYTES..)?) {
        match kind {
            IFA_LOCAL => local = address_at(value, 0, family),
            IFA_ADDRESS => other = address_at(value, 0, family),
            _ => {}
        }
    }
    // On a link between two the other address is the peer's.
    Some(local.or(other)? == address)
}

fn name(message: &[u8]) -> Option<String> {
    let mut attributes = attributes(message.get(LINK_HEADER_BYTES..)?);
    let (_, name) = attributes.find(|&(kind, _)| kind == IFLA_IFNAME)?;
    Some(String::from_utf8_lossy(text(name)).into_owned())
}

/// Whether one of the names of a message's interface is this one.
fn is_called(message: &[u8], wanted: &[u8]) -> bool {
    let rest = message.get(LINK_HEADER_BYTES..).unwrap_or_default();
    attributes(rest).any(|(kind, value)| match kind {
        IFLA_IFNAME => text(value) == wanted,
        IFLA_PROP_LIST => {
            attributes(value).any(|(kind, value)| kind == IFLA_ALT_IFNAME && text(value) == wanted)
        }
        _ => false,
    })
}

/// Up to the closing zero.
fn text(value: &[u8]) -> &[u8] {
    value.split(|&byte| byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_loopback_has_its_address_and_no_other() {
        let mut interfaces = Interfaces::open().unwrap();
        let names = interfaces.with("127.0.0.1".parse().unwrap()).unwrap();
        assert_eq!(names, ["lo"]);
        let names = interfaces.with("192.0.2.77".parse().unwrap()).unwrap();
        assert_eq!(names, Vec::<String>::new());
    }

    #[test]
    fn on_a_link_between_two_the_local_address_counts() {
        let mut message = vec![libc::AF_INET as u8, 32, 0, 0, 7, 0, 0, 0];
        for (kind, last) in [(IFA_ADDRESS, 1), (IFA_LOCAL, 2)] {
            message.extend([8, 0, kind as u8, 0, 10, 0, 0, last]);
        }
        assert_eq!(has(&message, "10.0.0.2".parse().unwrap()), Some(true));
        assert_eq!(has(&message, "10.0.0.1".parse().unwrap()), Some(false));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            has(&bytes, IpAddr::from([127, 0, 0, 1]));
            name(&bytes);
            is_called(&bytes, b"eth0");
        }
    }
}
