//! Schedules of data over subflows.

use proptest::prelude::*;

/// Where the mapping of several segments stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placement {
    Each,
    First,
    Last,
    Before,
    After,
}

/// A step of the schedule.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Data on a subflow, in `pieces` segments, from the last to the first if `reversed`: new, or
    /// from a number on that was sent before.
    Send {
        subflow: usize,
        again_from: Option<prop::sample::Index>,
        bytes: u32,
        pieces: u32,
        reversed: bool,
        placement: Placement,
        short: bool,
    },
    /// TCP sends again what the subflow sent.
    Retransmit {
        subflow: usize,
        from: prop::sample::Index,
        bytes: u32,
    },
    /// The receiver acknowledges part of what a subflow sent, and of the data.
    Acknowledge {
        subflow: usize,
        to: prop::sample::Index,
        data_to: prop::sample::Index,
    },
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let placement = prop_oneof![
        Just(Placement::Each),
        Just(Placement::First),
        Just(Placement::Last),
        Just(Placement::Before),
        Just(Placement::After),
    ];
    let again = prop::option::of(any::<prop::sample::Index>());
    let send = (
        0_usize..4,
        again,
        1_u32..40,
        1_u32..5,
        any::<(bool, bool)>(),
        placement,
    );
    let send = send.prop_map(
        |(subflow, again_from, bytes, pieces, flags, placement)| Step::Send {
            subflow,
            again_from,
            bytes,
            pieces,
            reversed: flags.0,
            placement,
            short: flags.1,
        },
    );
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => send,
        1 => (0_usize..4, index(), 1_u32..60)
            .prop_map(|(subflow, from, bytes)| Step::Retransmit { subflow, from, bytes }),
        2 => (0_usize..4, index(), index())
            .prop_map(|(subflow, to, data_to)| Step::Acknowledge { subflow, to, data_to }),
    ]
}
