//! The fields of the class OpenFlow basic (section 7.2.3.7, table 11).

use crate::number::numbers;

numbers! {
    /// A field of the class OpenFlow basic, by its number.
    Field: u8 {
        /// Port by which the packet came in.
        InPort = 0,
        /// Physical port below a logical one.
        InPhyPort = 1,
        /// Metadata that tables pass on.
        Metadata = 2,
        /// Ethernet destination.
        EthDst = 3,
        /// Ethernet source.
        EthSrc = 4,
        /// EtherType after VLAN tags.
        EthType = 5,
        /// VLAN id, with bit 12 set where there is a tag ([`VLAN_PRESENT`](super::VLAN_PRESENT)).
        VlanVid = 6,
        /// VLAN priority.
        VlanPcp = 7,
        /// Upper six bits of the traffic class.
        IpDscp = 8,
        /// Lower two bits of the traffic class.
        IpEcn = 9,
        /// Protocol above IP.
        IpProto = 10,
        /// IPv4 source.
        Ipv4Src = 11,
        /// IPv4 destination.
        Ipv4Dst = 12,
        /// TCP source port.
        TcpSrc = 13,
        /// TCP destination port.
        TcpDst = 14,
        /// UDP source port.
        UdpSrc = 15,
        /// UDP destination port.
        UdpDst = 16,
        /// SCTP source port.
        SctpSrc = 17,
        /// SCTP destination port.
        SctpDst = 18,
        /// ICMP type.
        Icmpv4Type = 19,
        /// ICMP code.
        Icmpv4Code = 20,
        /// ARP operation.
        ArpOp = 21,
        /// ARP source protocol address.
        ArpSpa = 22,
        /// ARP target protocol address.
        ArpTpa = 23,
        /// ARP source hardware address.
        ArpSha = 24,
        /// ARP target hardware address.
        ArpTha = 25,
        /// IPv6 source.
        Ipv6Src = 26,
        /// IPv6 destination.
        Ipv6Dst = 27,
        /// IPv6 flow label.
        Ipv6Flabel = 28,
        /// ICMPv6 type.
        Icmpv6Type = 29,
        /// ICMPv6 code.
        Icmpv6Code = 30,
        /// Target address of a neighbour discovery message.
        Ipv6NdTarget = 31,
        /// Source link-layer address option of neighbour discovery.
        Ipv6NdSll = 32,
        /// Target link-layer address option of neighbour discovery.
        Ipv6NdTll = 33,
        /// Label of the outermost MPLS shim.
        MplsLabel = 34,
        /// Traffic class of the outermost MPLS shim.
        MplsTc = 35,
        /// Bottom-of-stack bit of the outermost MPLS shim.
        MplsBos = 36,
        /// Service instance id of a backbone tag.
        PbbIsid = 37,
        /// Metadata of a logical port, such as a tunnel's key.
        TunnelId = 38,
        /// Pseudo-field of the extension headers ([`ExtensionHeaders`](super::ExtensionHeaders)).
        Ipv6Exthdr = 39,
    }
}

/// Bits of each field, by its number.
#[rustfmt::skip]
const BITS: [u8; Field::COUNT] = [
    32, 32, 64, 48, 48, 16, 13, 3, 6, 2,
    8, 32, 32, 16, 16, 16, 16, 16, 16, 8,
    8, 16, 32, 32, 48, 48, 128, 128, 20, 8,
    8, 128, 48, 48, 20, 3, 1, 24, 64, 9,
];

/// Names of the fields in the specification, by their numbers.
#[rustfmt::skip]
const NAMES: [&str; Field::COUNT] = [
    "in_port", "in_phy_port", "metadata", "eth_dst", "eth_src",
    "eth_type", "vlan_vid", "vlan_pcp", "ip_dscp", "ip_ecn",
    "ip_proto", "ipv4_src", "ipv4_dst", "tcp_src", "tcp_dst",
    "udp_src", "udp_dst", "sctp_src", "sctp_dst", "icmpv4_type",
    "icmpv4_code", "arp_op", "arp_spa", "arp_tpa", "arp_sha",
    "arp_tha", "ipv6_src", "ipv6_dst", "ipv6_flabel", "icmpv6_type",
    "icmpv6_code", "ipv6_nd_target", "ipv6_nd_sll", "ipv6_nd_tll", "mpls_label",
    "mpls_tc", "mpls_bos", "pbb_isid", "tunnel_id", "ipv6_exthdr",
];

impl Field {
    /// Fields that there are.
    pub const COUNT: usize = 40;

    /// The name in the specification, in lower case.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Bits of a value.
    pub const fn bits(self) -> u32 {
        BITS[self as usize] as u32
    }

    /// Bytes of a value in a message, which has its bits at the end.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Ipv6Flabel | Self::MplsLabel => 4,
            _ => self.bits().div_ceil(8) as usize,
        }
    }

    /// The value that has all bits set: the mask of an exact match.
    pub const fn all_ones(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }

    /// Whether a match may mask the field (table 12).
    pub const fn is_maskable(self) -> bool {
        matches!(
            self,
            Self::Metadata
                | Self::EthDst
                | Self::EthSrc
                | Self::VlanVid
                | Self::Ipv4Src
                | Self::Ipv4Dst
                | Self::ArpSpa
                | Self::ArpTpa
                | Self::ArpSha
                | Self::ArpTha
                | Self::Ipv6Src
                | Self::Ipv6Dst
                | Self::Ipv6Flabel
                | Self::PbbIsid
                | Self::TunnelId
                | Self::Ipv6Exthdr
        )
    }
}
