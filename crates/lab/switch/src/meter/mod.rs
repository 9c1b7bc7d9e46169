//! Meters: rates beyond which packets are dropped or remarked (section 5.7).

mod bucket;

use mptcplab_openflow::meter::{BandKind, MeterBand, MeterFlags};

use bucket::Bucket;

/// A band with its bucket and its account.
#[derive(Clone, Debug)]
pub(crate) struct Band {
    pub(crate) setup: MeterBand,
    bucket: Bucket,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// A meter.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    pub(crate) flags: MeterFlags,
    pub(crate) bands: Vec<Band>,
    pub(crate) since_ns: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// The verdict on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Drop,
    /// The drop precedence is raised by so many levels.
    Remark(u8),
}

impl Meter {
    pub(crate) fn new(flags: MeterFlags, bands: &[MeterBand], now_ns: u64) -> Self {
        let mut meter = Self {
            flags,
            bands: Vec::new(),
            since_ns: now_ns,
            packets: 0,
            bytes: 0,
        };
        meter.set(flags, bands, now_ns);
        meter
    }

    /// Replaces flags and bands; the account of packets goes on.
    pub(crate) fn set(&mut self, flags: MeterFlags, bands: &[MeterBand], now_ns: u64) {
        self.flags = flags;
        let band = |setup: &MeterBand| Band {
            setup: setup.clone(),
            bucket: Bucket::new(setup, flags, now_ns),
            packets: 0,
            bytes: 0,
        };
        self.bands = bands.iter().map(band).collect();
    }

    /// Measures a packet. Of the bands whose rate is exceeded the one with the highest applies.
    pub(crate) fn pass(&mut self, now_ns: u64, bytes: u64) -> Verdict {
        self.packets += 1;
        self.bytes += bytes;
        let amount = if self.flags.contains(MeterFlags::PKTPS) {
            1
        } else {
            bytes * 8
        };
        let mut applied: Option<&mut Band> = None;
        for band in &mut self.bands {
            let is_exceeded = !band.bucket.take(now_ns, amount);
            let is_higher = applied
                .as_ref()
                .is_none_or(|other| band.setup.rate > other.setup.rate);
            if is_exceeded && is_higher {
                applied = Some(band);
            }
        }
        let Some(band) = applied else {
            return Verdict::Pass;
        };
        band.packets += 1;
        band.bytes += bytes;
        match band.setup.kind {
            BandKind::DscpRemark { prec_level } => Verdict::Remark(prec_level),
            // An experimenter's band is refused when the meter is added.
            BandKind::Drop | BandKind::Experimenter { .. } => Verdict::Drop,
        }
    }
}

/// A DSCP of assured forwarding with its drop precedence raised, at most to the highest (RFC 2597,
/// section 6); others stay.
pub(crate) fn remarked(dscp: u8, levels: u8) -> u8 {
    let (class, precedence) = (dscp >> 3, dscp >> 1 & 3);
    if !(1..=4).contains(&class) || precedence == 0 || dscp & 1 != 0 {
        return dscp;
    }
    class << 3 | (precedence.saturating_add(levels)).min(3) << 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_assured_forwarding_is_remarked_up_to_its_highest_precedence() {
        // AF11, AF12, AF13, AF42.
        assert_eq!(remarked(10, 1), 12);
        assert_eq!(remarked(12, 9), 14);
        assert_eq!(remarked(14, 1), 14);
        assert_eq!(remarked(36, 255), 38);
        // Best effort, CS1, expedited forwarding.
        for dscp in [0, 8, 46] {
            assert_eq!(remarked(dscp, 1), dscp);
        }
    }
}
