//! Scale of windows (RFC 7323, section 2).

/// Largest shift (section 2.3).
const MAX_SHIFT: u8 = 14;

/// Window scale in the SYN of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// The option.
    pub(super) shift: Option<u8>,
    /// The SYN acknowledged another: it has the option only where that had it.
    pub(super) answers: bool,
}

/// Returns the shift of an end's windows, as far as it follows from the captured SYNs. Windows are
/// scaled where both SYNs have the option.
pub(super) fn shift(own: Option<Offer>, other: Option<Offer>) -> Option<u8> {
    match (own, other) {
        (Some(Offer { shift: None, .. }), _) | (_, Some(Offer { shift: None, .. })) => Some(0),
        (Some(own), _) if own.answers || other.is_some() => own.shift.map(|n| n.min(MAX_SHIFT)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: Option<Offer> = Some(Offer {
        shift: Some(7),
        answers: false,
    });
    const SYN_ACK: Option<Offer> = Some(Offer {
        shift: Some(200),
        answers: true,
    });
    const WITHOUT: Option<Offer> = Some(Offer {
        shift: None,
        answers: false,
    });

    #[test]
    fn both_must_offer_it() {
        assert_eq!(shift(SYN, SYN_ACK), Some(7));
        assert_eq!(shift(SYN_ACK, SYN), Some(14));
        assert_eq!(shift(SYN, WITHOUT), Some(0));
        assert_eq!(shift(WITHOUT, SYN), Some(0));
    }

    #[test]
    fn a_syn_that_was_not_captured_may_leave_it_open() {
        assert_eq!(shift(SYN, None), None);
        assert_eq!(shift(SYN_ACK, None), Some(14));
        assert_eq!(shift(WITHOUT, None), Some(0));
        assert_eq!(shift(None, SYN_ACK), None);
        assert_eq!(shift(None, WITHOUT), Some(0));
        assert_eq!(shift(None, None), None);
    }
}
