//! Connections that go on as TCP, and why.

use mptcplab_wire::option::{DataNumber, Dss, Mapping, MptcpOption};

use super::super::Fallback;
use super::build::*;
use crate::{Nanos, Segment};

/// Returns whether it counts as MPTCP, reason and time of the fallback of the only connection.
fn fallback(segments: impl IntoIterator<Item = Segment>) -> (bool, Option<(Fallback, Nanos)>) {
    let told = Told::of(segments);
    let identity = told.registry.connections().next().unwrap();
    let events = told.texts("fallback").len();
    assert_eq!(events, usize::from(identity.fallback.is_some()));
    (identity.mptcp, identity.fallback)
}

fn without(mut segment: Segment) -> Segment {
    segment.options.mptcp.clear();
    segment
}

#[test]
fn a_syn_ack_without_mp_capable() {
    let [first, second, third] = opening(1);
    assert_eq!(
        fallback([first, without(second), without(third)]),
        (false, Some((Fallback::SynAckWithoutMptcp, 10)))
    );
}

#[test]
fn a_syn_sent_again_without_mp_capable() {
    let [first, second, third] = opening(1);
    let again = without(first.clone()).at(5);
    assert_eq!(
        fallback([first, again, without(second), without(third)]),
        (false, Some((Fallback::SynRepeatedWithoutMptcp, 10)))
    );
}

#[test]
fn a_syn_sent_again_without_mp_capable_is_nothing_if_the_first_is_answered() {
    let [first, second, third] = opening(1);
    let again = without(first.clone()).at(5);
    assert_eq!(fallback([first, again, second, third]), (true, None));
}

#[test]
fn a_third_ack_without_mp_capable() {
    let [first, second, third] = opening(1);
    assert_eq!(
        fallback([first, second, without(third)]),
        (false, Some((Fallback::ThirdAckWithoutMptcp, 20)))
    );
}

#[test]
fn a_third_ack_whose_options_were_not_captured_says_nothing() {
    let [first, second, third] = opening(1);
    let mut third = without(third);
    third.options_cut = true;
    assert_eq!(fallback([first, second, third]), (true, None));
}

#[test]
fn a_later_segment_without_option_is_not_the_third_ack() {
    let [first, second, _] = opening(1);
    let later = ack(CLIENT, SERVER, ISN + 1401, ISN_SERVER + 1);
    assert_eq!(fallback([first, second, later]), (true, None));
}

#[test]
fn mappings_after_all_withdraw_the_third_ack() {
    let [first, second, third] = opening(1);
    let data = ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1)
        .bytes(100)
        .with(dss(Some(DataNumber::Long(1)), None));
    let told = Told::of([first, second, without(third), data]);
    let identity = told.registry.connections().next().unwrap();
    assert_eq!((identity.mptcp, identity.fallback), (true, None));
    assert_eq!(told.texts("fallback").len(), 2);
}

#[test]
fn the_first_data_of_either_end_without_mapping() {
    let client = ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1)
        .bytes(100)
        .at(30);
    let server = ack(SERVER, CLIENT, ISN_SERVER + 1, ISN + 1)
        .bytes(100)
        .at(30);
    for data in [client, server] {
        let segments = opening(1).into_iter().chain([data]);
        assert_eq!(fallback(segments), (true, Some((Fallback::NoDss, 30))));
    }
}

#[test]
fn data_in_the_first_mapping_needs_no_option() {
    let data = |sequence| ack(SERVER, CLIENT, sequence, ISN + 1).bytes(50);
    let first = data(ISN_SERVER + 1).with(dss(Some(DataNumber::Long(1)), None));
    let second = data(ISN_SERVER + 51);
    let segments = opening(1).into_iter().chain([first, second]);
    assert_eq!(fallback(segments), (true, None));
}

#[test]
fn the_first_data_of_version_1_may_have_mp_capable() {
    let data = ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1)
        .bytes(100)
        .with(capable(1, Some(A), Some(B)));
    let segments = opening(1).into_iter().chain([data]);
    assert_eq!(fallback(segments), (true, None));
}

#[test]
fn an_infinite_mapping() {
    let mapping = Mapping {
        data_sequence: DataNumber::Long(7),
        subflow_sequence: 1,
        bytes: 0,
        checksum: None,
    };
    let option = MptcpOption::Dss(Dss {
        data_fin: false,
        acknowledgement: None,
        mapping: Some(mapping),
    });
    let data = ack(CLIENT, SERVER, ISN + 1, ISN_SERVER + 1).bytes(9).at(40);
    let segments = opening(1).into_iter().chain([data.with(option)]);
    assert_eq!(
        fallback(segments),
        (true, Some((Fallback::InfiniteMapping, 40)))
    );
}

#[test]
fn mp_fail_is_a_fallback_unless_the_subflow_is_reset() {
    let option = MptcpOption::Fail { data_sequence: 9 };
    let fail = ack(SERVER, CLIENT, ISN_SERVER + 1, ISN + 1)
        .at(50)
        .with(option);
    let segments = opening(1).into_iter().chain([fail.clone()]);
    assert_eq!(fallback(segments), (true, Some((Fallback::MpFail, 50))));
    let told = Told::of(opening(1).into_iter().chain([fail.rst()]));
    let identity = told.registry.connections().next().unwrap();
    assert_eq!(identity.fallback, None);
    assert_eq!(told.texts("mp_fail"), ["MP_FAIL dsn=9"]);
    assert_eq!(told.texts("reset"), ["RST; MP_FAIL dsn=9"]);
}

#[test]
fn an_option_lost_between_two_interfaces() {
    let [first, second, third] = opening(1);
    let beyond = without(first.clone()).on(1).at(2);
    assert_eq!(
        fallback([first.clone(), beyond, without(second.clone())]),
        (false, Some((Fallback::SynStripped, 2)))
    );
    let beyond = without(second.clone()).on(1).at(12);
    assert_eq!(
        fallback([first, second, beyond, without(third)]),
        (false, Some((Fallback::SynAckStripped, 12)))
    );
}
