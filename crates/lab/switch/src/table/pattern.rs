//! A match in the one form that it has in a table.

use mptcplab_openflow::{Field, Match};

use crate::frame::Key;
use crate::frame::key::bit;

/// A field, the bits of it that count, and their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    pub(crate) field: Field,
    pub(crate) mask: u128,
    pub(crate) value: u128,
}

/// Fields in the order of their numbers; those of which no bit counts are left out, which says the
/// same (section 7.2.3.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    terms: Vec<Term>,
}

impl Pattern {
    pub(crate) fn new(fields: &Match) -> Self {
        let mut terms: Vec<Term> = fields
            .fields
            .iter()
            .map(|oxm| Term {
                field: oxm.field,
                mask: oxm.effective_mask(),
                value: oxm.value,
            })
            .filter(|term| term.mask != 0)
            .collect();
        terms.sort_by_key(|term| term.field);
        Self { terms }
    }

    pub(crate) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Whether every packet matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The fields that a packet must have, by bits of their numbers.
    pub(crate) fn needed(&self) -> u64 {
        self.terms
            .iter()
            .fold(0, |bits, term| bits | bit(term.field))
    }

    fn term(&self, field: Field) -> Option<&Term> {
        self.terms.iter().find(|term| term.field == field)
    }

    /// Whether every packet that matches `other` matches this one (section 6.4: entries that a
    /// command without "strict" concerns).
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.terms.iter().all(|own| {
            other.term(own.field).is_some_and(|theirs| {
                theirs.mask & own.mask == own.mask && theirs.value & own.mask == own.value
            })
        })
    }

    /// Whether a packet may match both.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.terms.iter().all(|own| {
            other
                .term(own.field)
                .is_none_or(|theirs| (own.value ^ theirs.value) & own.mask & theirs.mask == 0)
        })
    }

    /// Whether a packet matches.
    #[cfg(test)]
    pub(crate) fn matches(&self, key: &Key) -> bool {
        let needed = self.needed();
        key.present() & needed == needed
            && self
                .terms
                .iter()
                .all(|term| key.value(term.field) & term.mask == term.value)
    }
}

/// The values of a packet's fields under the masks of terms.
pub(crate) fn masked<'a>(
    key: &'a Key,
    masks: &'a [(Field, u128)],
) -> impl Iterator<Item = u128> + 'a {
    masks.iter().map(|(field, mask)| key.value(*field) & mask)
}
