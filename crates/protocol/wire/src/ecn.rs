//! The ECN field of the IP header.

/// ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable,
    /// ECN-capable, ECT(1).
    Capable1,
    /// ECN-capable, ECT(0).
    Capable0,
    /// Congestion experienced.
    CongestionExperienced,
}

impl Ecn {
    /// The two bits of the field.
    pub(crate) fn bits(self) -> u8 {
        match self {
            Self::NotCapable => 0b00,
            Self::Capable1 => 0b01,
            Self::Capable0 => 0b10,
            Self::CongestionExperienced => 0b11,
        }
    }

    /// From the low two bits of a byte: the field's place in the second byte of an IPv4 header.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotCapable,
            0b01 => Self::Capable1,
            0b10 => Self::Capable0,
            _ => Self::CongestionExperienced,
        }
    }
}
