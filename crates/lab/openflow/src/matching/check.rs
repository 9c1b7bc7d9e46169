//! Rules that the fields of a match obey together (sections 7.2.3.4 to 7.2.3.6).

use super::{Field, Match, Oxm, VLAN_PRESENT};
use crate::error::{BadMatch, ErrorKind};

const IPV4: u128 = 0x0800;
const ARP: u128 = 0x0806;
const IPV6: u128 = 0x86dd;
const MPLS: [u128; 2] = [0x8847, 0x8848];
const PBB: u128 = 0x88e7;

const ICMP: u128 = 1;
const TCP: u128 = 6;
const UDP: u128 = 17;
const ICMPV6: u128 = 58;
const SCTP: u128 = 132;

const NEIGHBOUR_SOLICITATION: u128 = 135;
const NEIGHBOUR_ADVERTISEMENT: u128 = 136;

/// The field that another one depends on, and the values that it must have; empty: any.
fn prerequisite(field: Field) -> Option<(Field, &'static [u128])> {
    use Field::*;
    Some(match field {
        InPort | Metadata | EthDst | EthSrc | EthType | VlanVid | TunnelId => return None,
        InPhyPort => (InPort, &[]),
        VlanPcp => (VlanVid, &[]),
        IpDscp | IpEcn | IpProto => (EthType, &[IPV4, IPV6]),
        Ipv4Src | Ipv4Dst => (EthType, &[IPV4]),
        TcpSrc | TcpDst => (IpProto, &[TCP]),
        UdpSrc | UdpDst => (IpProto, &[UDP]),
        SctpSrc | SctpDst => (IpProto, &[SCTP]),
        Icmpv4Type | Icmpv4Code => (IpProto, &[ICMP]),
        ArpOp | ArpSpa | ArpTpa | ArpSha | ArpTha => (EthType, &[ARP]),
        Ipv6Src | Ipv6Dst | Ipv6Flabel | Ipv6Exthdr => (EthType, &[IPV6]),
        Icmpv6Type | Icmpv6Code => (IpProto, &[ICMPV6]),
        Ipv6NdTarget => (
            Icmpv6Type,
            &[NEIGHBOUR_SOLICITATION, NEIGHBOUR_ADVERTISEMENT],
        ),
        Ipv6NdSll => (Icmpv6Type, &[NEIGHBOUR_SOLICITATION]),
        Ipv6NdTll => (Icmpv6Type, &[NEIGHBOUR_ADVERTISEMENT]),
        MplsLabel | MplsTc | MplsBos => (EthType, &MPLS),
        PbbIsid => (EthType, &[PBB]),
    })
}

/// Whether the EtherType is the one of the version of IP that ICMP and ICMPv6 go with.
fn has_right_ip(field: Field, ether_type: Option<u128>) -> bool {
    match field {
        Field::Icmpv4Type | Field::Icmpv4Code => ether_type == Some(IPV4),
        Field::Icmpv6Type | Field::Icmpv6Code => ether_type == Some(IPV6),
        _ => true,
    }
}

impl Match {
    /// Whether the prerequisites of a field are among the fields of the match (table 12): so may
    /// a field be matched, or be set by an action of an entry with this match.
    pub fn allows(&self, field: Field) -> bool {
        let Some((needed, values)) = prerequisite(field) else {
            return true;
        };
        let Some(found) = self.get(needed) else {
            return false;
        };
        let fits = match field {
            // Any tag there is, also by a mask that asks for none of its bits but that.
            Field::VlanPcp => found.value & u128::from(VLAN_PRESENT) != 0,
            _ => values.is_empty() || values.contains(&found.value),
        };
        let ether_type = self.get(Field::EthType).map(|found| found.value);
        fits && has_right_ip(field, ether_type) && self.allows(needed)
    }

    /// Checks all that a switch refuses by the specification: fields that it does not know, twice
    /// the same field, masks where none may be, bits of a value that do not count, prerequisites
    /// that are not met.
    ///
    /// # Errors
    ///
    /// The code of the error that a switch answers with.
    pub fn check(&self) -> Result<(), ErrorKind> {
        if !self.unknown.is_empty() {
            return Err(BadMatch::BadField.into());
        }
        for (index, oxm) in self.fields.iter().enumerate() {
            if self.fields[..index]
                .iter()
                .any(|one| one.field == oxm.field)
            {
                return Err(BadMatch::DupField.into());
            }
            check_one(oxm)?;
            if !self.allows(oxm.field) {
                return Err(BadMatch::BadPrereq.into());
            }
        }
        Ok(())
    }
}

fn check_one(oxm: &Oxm) -> Result<(), BadMatch> {
    let bits = oxm.field.all_ones();
    if oxm.value & !bits != 0 {
        return Err(BadMatch::BadValue);
    }
    if let Some(mask) = oxm.mask {
        if !oxm.field.is_maskable() || mask & !bits != 0 {
            return Err(BadMatch::BadMask);
        }
        if oxm.value & !mask != 0 {
            return Err(BadMatch::BadWildcards);
        }
    }
    let vlan = u128::from(VLAN_PRESENT);
    // An id without the bit that says that there is a tag is none (section 7.2.3.7).
    if oxm.field == Field::VlanVid && oxm.mask.is_none() && oxm.value != 0 && oxm.value & vlan == 0
    {
        return Err(BadMatch::BadValue);
    }
    Ok(())
}
