//! The interfaces of a network namespace and their addresses (rtnetlink; `linux/rtnetlink.h`,
//! `linux/if_link.h`, `linux/if_addr.h`).

use std::io;
use std::net::IpAddr;

use crate::bytes::{address_at, u8_at, u32_at, u64_at};
use crate::dump::{Dumper, attributes};

const RTM_GETLINK: u16 = 18;
const RTM_GETADDR: u16 = 22;
/// `struct ifinfomsg`
const LINK_HEADER_BYTES: usize = 16;
/// `struct ifaddrmsg`
const ADDRESS_HEADER_BYTES: usize = 8;
const IFLA_IFNAME: u16 = 3;
/// State by RFC 2863 (`linux/if.h`).
const IFLA_OPERSTATE: u16 = 16;
const IF_OPER_DORMANT: u8 = 5;
const IF_OPER_UP: u8 = 6;
/// Whether the state waits for a login, as of a wireless network (`linux/if.h`).
const IFLA_LINKMODE: u16 = 17;
const IF_LINK_MODE_DORMANT: u8 = 1;
/// `struct rtnl_link_stats64`
const IFLA_STATS64: u16 = 23;
/// A list of `IFLA_ALT_IFNAME`.
const IFLA_PROP_LIST: u16 = 52;
const IFLA_ALT_IFNAME: u16 = 53;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
const IFA_F_OPTIMISTIC: u32 = 0x04;
const IFA_F_DADFAILED: u32 = 0x08;
const IFA_F_DEPRECATED: u32 = 0x20;
const IFA_F_TENTATIVE: u32 = 0x40;

/// Answers questions about the interfaces of one namespace.
pub struct Interfaces(Dumper);

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The kernel's index: it stays, whatever the interface is called.
    pub index: u32,
    /// Its own name.
    pub name: String,
    /// Its alternative names (`altname`).
    pub other_names: Vec<String>,
    /// It is up, and its driver has a carrier (`IFF_LOWER_UP`). `IFF_RUNNING` follows up to a second
    /// later: so rarely the kernel looks at changes of carriers, those of all namespaces together.
    pub has_carrier: bool,
    /// It waits for something beyond the carrier, such as the login to a wireless network.
    pub is_dormant: bool,
    /// It reaches this host only.
    pub is_loopback: bool,
}

/// Counters of an interface since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes sent, with their link-layer headers.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets received.
    pub received_packets: u64,
    /// Packets to send that were dropped.
    pub sent_dropped: u64,
    /// Packets received that were dropped.
    pub received_dropped: u64,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Index of its interface.
    pub interface: u32,
    /// Nothing can be sent from it yet, or ever: another host may have it (RFC 4862, section 5.4).
    pub is_tentative: bool,
    /// Existing traffic may go on, new traffic should not begin (RFC 4862, section 5.5.4).
    pub is_deprecated: bool,
}

/// An address from which other hosts can be reached now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// The address.
    pub address: IpAddr,
    /// Name of its interface.
    pub interface: String,
    /// As of [`Address`].
    pub is_deprecated: bool,
}

impl Interfaces {
    /// Those of the calling thread's namespace.
    ///
    /// # Errors
    /// Those of socket(2) and bind(2).
    pub fn open() -> io::Result<Self> {
        Dumper::open(libc::NETLINK_ROUTE).map(Self)
    }

    /// All interfaces.
    ///
    /// # Errors
    /// The kernel's.
    pub fn interfaces(&mut self) -> io::Result<Vec<Interface>> {
        let mut found = Vec::new();
        let request = [0; LINK_HEADER_BYTES];
        self.0
            .dump(RTM_GETLINK, &request, |row| found.extend(interface(row)))?;
        Ok(found)
    }

    /// All interfaces and what they have carried, read in one pass.
    ///
    /// # Errors
    /// The kernel's.
    pub fn counters(&mut self) -> io::Result<Vec<(Interface, Counters)>> {
        let mut found = Vec::new();
        let request = [0; LINK_HEADER_BYTES];
        self.0.dump(RTM_GETLINK, &request, |row| {
            found.extend(interface(row).zip(counters(row)));
        })?;
        Ok(found)
    }

    /// All addresses, those of IPv4 first.
    ///
    /// # Errors
    /// The kernel's.
    pub fn addresses(&mut self) -> io::Result<Vec<Address>> {
        let mut found = Vec::new();
        let request = [0; ADDRESS_HEADER_BYTES];
        self.0
            .dump(RTM_GETADDR, &request, |row| found.extend(address(row)))?;
        Ok(found)
    }

    /// Addresses from which other hosts can be reached now: of interfaces with a carrier, neither
    /// tentative nor of the loopback or one link only.
    ///
    /// # Errors
    /// The kernel's.
    pub fn local_addresses(&mut self) -> io::Result<Vec<LocalAddress>> {
        let interfaces = self.interfaces()?;
        Ok(far_reaching(&interfaces, self.addresses()?))
    }
}

/// The addresses from which other hosts can be reached.
fn far_reaching(interfaces: &[Interface], addresses: Vec<Address>) -> Vec<LocalAddress> {
    let far_reaching = addresses.into_iter().filter_map(|address| {
        let mut every = interfaces.iter();
        let interface = every.find(|one| one.index == address.interface)?;
        let is_usable = !address.is_tentative && !is_near(address.ip);
        let carries = interface.has_carrier && !interface.is_dormant && !interface.is_loopback;
        (is_usable && carries).then(|| LocalAddress {
            address: address.ip,
            interface: interface.name.clone(),
            is_deprecated: address.is_deprecated,
        })
    });
    far_reaching.collect()
}

impl Interface {
    /// Tells whether it has this name, its own or an alternative one.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.other_names.iter().any(|other| other == name)
    }
}

/// It stands for this host, or for another one on each link.
fn is_near(address: IpAddr) -> bool {
    let is_of_link = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    is_of_link || address.is_loopback()
}

fn interface(row: &[u8]) -> Option<Interface> {
    let flags = u32_at(row, 8)? as i32;
    let mut found = Interface {
        index: u32_at(row, 4)?,
        name: String::new(),
        other_names: Vec::new(),
        has_carrier: flags & libc::IFF_UP != 0 && flags & libc::IFF_LOWER_UP != 0,
        is_dormant: false,
        is_loopback: flags & libc::IFF_LOOPBACK != 0,
    };
    let (mut state, mut mode) = (None, None);
    for (kind, value) in attributes(row.get(LINK_HEADER_BYTES..)?) {
        match kind {
            IFLA_IFNAME => found.name = text(value),
            IFLA_OPERSTATE => state = value.first().copied(),
            IFLA_LINKMODE => mode = value.first().copied(),
            IFLA_PROP_LIST => {
                let names = attributes(value).filter(|&(kind, _)| kind == IFLA_ALT_IFNAME);
                found.other_names.extend(names.map(|(_, name)| text(name)));
            }
            _ => {}
        }
    }
    // The state follows the carrier up to a second later; until then the mode tells what it will be.
    found.is_dormant = state == Some(IF_OPER_DORMANT)
        || (mode == Some(IF_LINK_MODE_DORMANT) && state != Some(IF_OPER_UP));
    Some(found).filter(|found| !found.name.is_empty())
}

fn counters(row: &[u8]) -> Option<Counters> {
    let mut all = attributes(row.get(LINK_HEADER_BYTES..)?);
    let (_, statistics) = all.find(|&(kind, _)| kind == IFLA_STATS64)?;
    Some(Counters {
        received_packets: u64_at(statistics, 0)?,
        sent_packets: u64_at(statistics, 8)?,
        received_bytes: u64_at(statistics, 16)?,
        sent_bytes: u64_at(statistics, 24)?,
        received_dropped: u64_at(statistics, 48)?,
        sent_dropped: u64_at(statistics, 56)?,
    })
}

fn address(row: &[u8]) -> Option<Address> {
    let family = u16::from(u8_at(row, 0)?);
    let mut flags = u32::from(u8_at(row, 2)?);
    let (mut local, mut other) = (None, None);
    for (kind, value) in attributes(row.get(ADDRESS_HEADER_BYTES..)?) {
        match kind {
            IFA_LOCAL => local = address_at(value, 0, family),
            IFA_ADDRESS => other = address_at(value, 0, family),
            IFA_FLAGS => flags = u32_at(value, 0)?,
            _ => {}
        }
    }
    let has = |flag| flags & flag != 0;
    Some(Address {
        // On a link between two the other address is the peer's.
        ip: local.or(other)?,
        interface: u32_at(row, 4)?,
        is_tentative: has(IFA_F_DADFAILED) || has(IFA_F_TENTATIVE) && !has(IFA_F_OPTIMISTIC),
        is_deprecated: has(IFA_F_DEPRECATED),
    })
}

/// Up to the closing zero.
fn text(value: &[u8]) -> String {
    let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_loopback_has_its_address() {
        let mut interfaces = Interfaces::open().unwrap();
        let every = interfaces.interfaces().unwrap();
        let lo = every.iter().find(|one| one.is_called("lo")).unwrap();
        assert!(lo.is_loopback);
        let own = interfaces.addresses().unwrap();
        let own = own.iter().filter(|one| one.interface == lo.index);
        assert!(
            own.clone()
                .all(|one| one.ip.is_loopback() && !one.is_tentative)
        );
        let far = interfaces.local_addresses().unwrap();
        assert!(far.iter().all(|one| one.interface != "lo"));
    }

    fn link_row(flags: i32, operational: u8) -> Vec<u8> {
        let mut row = vec![0; LINK_HEADER_BYTES];
        row[4] = 7;
        row[8..12].copy_from_slice(&flags.to_ne_bytes());
        row.extend([9, 0, IFLA_IFNAME as u8, 0]);
        row.extend(b"wifi\0\0\0\0");
        row.extend([5, 0, IFLA_OPERSTATE as u8, 0, operational, 0, 0, 0]);
        row.extend([68, 0, IFLA_STATS64 as u8, 0]);
        row.extend((1..=8u64).flat_map(u64::to_ne_bytes));
        row
    }

    #[test]
    fn a_link_has_name_state_and_counters() {
        let row = link_row(libc::IFF_UP | libc::IFF_RUNNING, 6);
        let link = interface(&row).unwrap();
        assert_eq!((link.index, link.name.as_str()), (7, "wifi"));
        assert!(!link.has_carrier && !link.is_dormant);
        let expected = Counters {
            received_packets: 1,
            sent_packets: 2,
            received_bytes: 3,
            sent_bytes: 4,
            received_dropped: 7,
            sent_dropped: 8,
        };
        assert_eq!(counters(&row), Some(expected));
    }

    #[test]
    fn a_link_has_a_carrier_only_while_it_is_up() {
        let has_carrier = |flags| interface(&link_row(flags, 2)).unwrap().has_carrier;
        assert!(has_carrier(libc::IFF_UP | libc::IFF_LOWER_UP));
        assert!(!has_carrier(libc::IFF_UP));
        assert!(!has_carrier(libc::IFF_LOWER_UP));
    }

    #[test]
    fn an_address_is_of_use_once_its_link_has_a_carrier_though_the_kernel_has_not_told() {
        const DOWN: u8 = 2;
        let own = Address {
            ip: [10, 0, 0, 2].into(),
            interface: 7,
            is_tentative: false,
            is_deprecated: false,
        };
        let is_of_use = |flags, operational| {
            let link = interface(&link_row(flags, operational)).unwrap();
            !far_reaching(&[link], vec![own]).is_empty()
        };
        assert!(is_of_use(libc::IFF_UP | libc::IFF_LOWER_UP, DOWN));
        assert!(!is_of_use(libc::IFF_UP | libc::IFF_RUNNING, DOWN));
        assert!(!is_of_use(
            libc::IFF_UP | libc::IFF_LOWER_UP,
            IF_OPER_DORMANT
        ));
    }

    #[test]
    fn an_interface_that_waits_for_a_login_is_dormant_before_its_state_says_so() {
        let mut row = link_row(libc::IFF_UP | libc::IFF_LOWER_UP, 2);
        row.extend([5, 0, IFLA_LINKMODE as u8, 0, IF_LINK_MODE_DORMANT, 0, 0, 0]);
        assert!(interface(&row).unwrap().is_dormant);
    }

    fn address_row(flags: u8, attributes: &[(u16, [u8; 4])]) -> Vec<u8> {
        let mut row = vec![libc::AF_INET as u8, 32, flags, 0, 7, 0, 0, 0];
        for (kind, value) in attributes {
            row.extend([8, 0, *kind as u8, 0]);
            row.extend(value);
        }
        row
    }

    #[test]
    fn on_a_link_between_two_the_local_address_counts() {
        let ends = [(IFA_ADDRESS, [10, 0, 0, 1]), (IFA_LOCAL, [10, 0, 0, 2])];
        let read = address(&address_row(0, &ends)).unwrap();
        assert_eq!((read.ip, read.interface), ([10, 0, 0, 2].into(), 7));
        assert!(!read.is_tentative && !read.is_deprecated);
    }

    #[test]
    fn flags_tell_whether_an_address_can_be_used() {
        let own = (IFA_LOCAL, [10, 0, 0, 2]);
        let state = |flags: u32| {
            let row = address_row(0xff, &[own, (IFA_FLAGS, flags.to_ne_bytes())]);
            let read = address(&row).unwrap();
            (read.is_tentative, read.is_deprecated)
        };
        assert_eq!(state(0), (false, false));
        assert_eq!(state(IFA_F_TENTATIVE), (true, false));
        assert_eq!(state(IFA_F_TENTATIVE | IFA_F_OPTIMISTIC), (false, false));
        assert_eq!(state(IFA_F_DADFAILED), (true, false));
        assert_eq!(state(IFA_F_DEPRECATED), (false, true));
        // An older kernel has those of the header only.
        let read = address(&address_row(IFA_F_TENTATIVE as u8, &[own])).unwrap();
        assert!(read.is_tentative);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            interface(&bytes);
            counters(&bytes);
            address(&bytes);
        }
    }
}
