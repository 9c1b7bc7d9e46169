//! Reports of targets within the bounds of what a server takes: a target may be of another version, or
//! hostile, and the rest of a result is worth being kept.

use mptcplab_measure::client::Outcome;
use mptcplab_measure::message::{Ended, SeenSubflow};

use crate::api::sentence;
use crate::result::Measured;

/// The largest number that is exact in every reader of JSON.
const LARGEST: u64 = 1 << 53;
/// Letters of a reason at most.
const LONGEST_FAILURE: usize = 1_000;
/// Letters of a name or an address at most.
const LONGEST_WORD: usize = 100;
const MOST_OPTIONS: usize = 64;
const MOST_SUBFLOWS: usize = 64;
/// The name of one that has none.
const NAMELESS: &str = "?";

/// An experiment of which all can be sent.
pub(crate) fn bounded(mut measured: Measured) -> Measured {
    measured.reason = measured.reason.as_deref().map(sentence);
    bound(measured.target.rate_limit_bps.iter_mut());
    for done in &mut measured.steps {
        let counted = &mut done.result.wrong_checksums;
        bound(
            [&mut counted.probe, &mut counted.target]
                .into_iter()
                .flatten(),
        );
        for one in &mut done.result.connections {
            bound_connection(one);
        }
    }
    measured
}

fn bound_connection(one: &mut Outcome) {
    shorten(&mut one.failure);
    one.sources.truncate(MOST_SUBFLOWS);
    bound_end(&mut one.probe);
    one.target.iter_mut().for_each(bound_end);
}

fn bound_end(end: &mut Ended) {
    bound([
        &mut end.sent_bytes,
        &mut end.received_bytes,
        &mut end.duration_us,
        &mut end.moved_by_all_bytes,
        &mut end.ended_us,
        &mut end.ended_moved_by_all_bytes,
    ]);
    bound(end.changed_bytes.iter_mut());
    bound(end.samples.iter_mut().map(|(_, bytes)| bytes));
    shorten(&mut end.failure);
    end.seen.subflows.truncate(MOST_SUBFLOWS);
    end.seen.subflows.iter_mut().for_each(bound_subflow);
    if let Some(name) = &mut end.seen.congestion_control {
        *name = word(name);
    }
    if let Some(syn) = &mut end.syn {
        syn.names.truncate(MOST_OPTIONS);
        for name in &mut syn.names {
            *name = word(name);
        }
    }
}

fn bound_subflow(subflow: &mut SeenSubflow) {
    subflow.local = word(&subflow.local);
    subflow.remote = word(&subflow.remote);
    bound(subflow.sent_bytes.iter_mut());
    bound(subflow.received_bytes.iter_mut());
}

fn bound<'a>(numbers: impl IntoIterator<Item = &'a mut u64>) {
    for number in numbers {
        *number = LARGEST.min(*number);
    }
}

fn shorten(failure: &mut Option<String>) {
    if let Some(text) = failure {
        *text = text.chars().take(LONGEST_FAILURE).collect();
    }
}

/// The letters of a name that can be printed.
fn word(text: &str) -> String {
    let letters = text.chars().filter(char::is_ascii_graphic);
    let word: String = letters.take(LONGEST_WORD).collect();
    match word.is_empty() {
        true => NAMELESS.to_owned(),
        false => word,
    }
}

#[cfg(test)]
mod tests {
    use mptcplab_measure::syn::SynOptions;

    use super::*;
    use crate::result::tests::record;

    #[test]
    fn what_a_hostile_target_tells_is_bounded_and_the_rest_is_kept() {
        let mut measured = record(1, 1).measured;
        let expected = bounded(measured.clone());
        assert_eq!(expected.steps, measured.steps);
        let subflow = SeenSubflow {
            local: "x".repeat(1_000),
            remote: "10.0.0.1:1".to_owned(),
            sent_bytes: Some(u64::MAX),
            received_bytes: None,
            rtt_us: None,
        };
        let end = &mut measured.steps[0].result.connections[0];
        let target = end.target.as_mut().unwrap();
        target.sent_bytes = u64::MAX;
        target.samples = vec![(u32::MAX, u64::MAX)];
        target.failure = Some("\u{e9}".repeat(2_000));
        target.seen.subflows = vec![subflow; 200];
        target.seen.congestion_control = Some("re\u{1b}no".to_owned());
        target.syn = Some(SynOptions {
            names: vec!["m\u{1b}[2Jss\u{202e}".to_owned(), String::new()],
            ..SynOptions::default()
        });
        target.changed_bytes = Some(u64::MAX);
        measured.steps[0].result.wrong_checksums.target = Some(u64::MAX);
        measured.target.rate_limit_bps = Some(u64::MAX);
        measured.reason = Some("a\u{1b}\n".repeat(2_000));

        let bounded = bounded(measured);
        let target = bounded.steps[0].result.connections[0].target.as_ref();
        let target = target.unwrap();
        assert_eq!((target.sent_bytes, target.samples[0].1), (LARGEST, LARGEST));
        assert_eq!(target.failure.as_ref().unwrap().chars().count(), 1_000);
        assert_eq!(target.changed_bytes, Some(LARGEST));
        let counted = bounded.steps[0].result.wrong_checksums;
        assert_eq!(counted.target, Some(LARGEST));
        assert_eq!(target.seen.subflows.len(), MOST_SUBFLOWS);
        assert_eq!(target.seen.congestion_control.as_deref(), Some("reno"));
        let subflow = &target.seen.subflows[0];
        assert_eq!(
            (subflow.local.len(), &subflow.remote[..]),
            (100, "10.0.0.1:1")
        );
        assert_eq!(subflow.sent_bytes, Some(LARGEST));
        assert_eq!(target.syn.as_ref().unwrap().names, ["m[2Jss", NAMELESS]);
        assert_eq!(bounded.target.rate_limit_bps, Some(LARGEST));
        assert!(!bounded.reason.unwrap().contains(char::is_control));
    }
}
