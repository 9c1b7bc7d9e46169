//! Headers around a packet: tags, tunnels, and the packets that carry it.

use std::fmt;

use super::Skip;

/// A header between that of the link and the IP header in front of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Layer {
    /// A tag of IEEE 802.1Q or 802.1ad.
    Vlan = 1,
    /// LLC and SNAP (RFC 1042).
    Snap,
    /// PPP over Ethernet (RFC 2516).
    Pppoe,
    /// A stack of labels (RFC 3032).
    Mpls,
    /// A packet of IPv4 that carries another one (RFC 2003), or a tunnel.
    Ipv4,
    /// A packet of IPv6 that carries another one (RFC 2473), or a tunnel.
    Ipv6,
    /// GRE (RFC 2784, RFC 2890; version 1: RFC 2637).
    Gre,
    /// The user plane of GTP version 1 (3GPP TS 29.281).
    GtpU,
    /// VXLAN (RFC 7348).
    Vxlan,
    /// Geneve (RFC 8926).
    Geneve,
    /// A frame of Ethernet within a tunnel.
    Ethernet,
}

impl Layer {
    const ALL: [Self; 11] = [
        Self::Vlan,
        Self::Snap,
        Self::Pppoe,
        Self::Mpls,
        Self::Ipv4,
        Self::Ipv6,
        Self::Gre,
        Self::GtpU,
        Self::Vxlan,
        Self::Geneve,
        Self::Ethernet,
    ];

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vlan => "VLAN",
            Self::Snap => "SNAP",
            Self::Pppoe => "PPPoE",
            Self::Mpls => "MPLS",
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
            Self::Gre => "GRE",
            Self::GtpU => "GTP-U",
            Self::Vxlan => "VXLAN",
            Self::Geneve => "Geneve",
            Self::Ethernet => "Ethernet",
        }
    }
}

/// The headers between that of the link and the IP header in front of TCP, the outermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layers(
    /// Four bits each, the outermost highest.
    u32,
);

impl Layers {
    /// None: TCP's own IP header follows that of the link.
    pub const NONE: Self = Self(0);

    const BITS: u32 = 4;

    /// Returns whether there are none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Iterates over the layers, the outermost first.
    pub fn iter(self) -> impl Iterator<Item = Layer> {
        let numbers = (0..u32::BITS / Self::BITS).rev();
        numbers.filter_map(move |place| {
            let number = self.0 >> (place * Self::BITS) & 0xf;
            Layer::ALL.get(number.checked_sub(1)? as usize).copied()
        })
    }

    /// Adds one within the others.
    ///
    /// # Errors
    /// There is no room for more than eight: what nests deeper was made to cost time.
    pub(super) fn push(&mut self, layer: Layer) -> Result<(), Skip> {
        if self.0 >> (u32::BITS - Self::BITS) != 0 {
            return Err(Skip::Malformed);
        }
        self.0 = self.0 << Self::BITS | layer as u32;
        Ok(())
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, layer) in self.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            write!(f, "{space}{}", layer.name())?;
        }
        Ok(())
    }
}
