//! Whatever happens.

use proptest::prelude::*;

use super::*;

fn any_event() -> impl Strategy<Value = (Event, Nanos)> {
    let kinds = prop::sample::select(vec![
        EventKind::Established,
        EventKind::Closed,
        EventKind::SubflowEstablished,
        EventKind::SubflowClosed,
        EventKind::Announced,
        EventKind::Removed,
    ]);
    (kinds, 0..4u8, 0..3u16, 0..2u32, any::<u32>()).prop_map(|(kind, last, port, token, at)| {
        let local = format!("10.0.{last}.2:{}", 40_000 + port);
        let mut event = event(kind, &local, peer());
        event.token = token;
        event.remote_id = Some(last);
        (event, at.into())
    })
}

proptest! {
    #[test]
    fn never_more_subflows_are_open_or_under_way_than_allowed(
        events in prop::collection::vec(any_event(), 0..60),
        refresh: bool,
        most in 1..6u32,
    ) {
        let mut core = Core::new(Config { refresh, most_subflows: most, ..mesh() });
        core.set_addresses([0, 1, 2, 3].map(address).to_vec());
        let mut now = 0;
        for (event, passed) in events {
            now += passed;
            core.on_event(now, &event);
            let before: BTreeMap<u32, usize> = core
                .connections
                .iter()
                .map(|(token, one)| (*token, one.subflows.len()))
                .collect();
            for command in core.commands(now) {
                if let Command::Open { token, .. } = command {
                    prop_assert!(before[&token] < most as usize);
                }
            }
            prop_assert_eq!(core.commands(now), []);
        }
    }
}
