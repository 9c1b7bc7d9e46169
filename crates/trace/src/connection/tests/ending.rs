//! How subflows and connections end.

use super::*;

fn fin() -> Draft {
    let mut fin = bare(1, 0);
    fin.flags.fin = true;
    fin
}

fn reset() -> Draft {
    let mut reset = bare(1, 0);
    reset.flags.rst = true;
    reset
}

#[test]
fn subflows_end_by_both_fins_or_a_reset() {
    let mut lab = Lab::new(2);
    lab.client(0, bare(1, 0));
    lab.client(1, bare(1, 0));
    lab.at = 1;
    lab.client(0, fin());
    lab.client(0, fin());
    lab.at = 2;
    lab.server(0, fin());
    lab.at = 3;
    lab.server(1, reset());
    lab.client(1, reset());
    let told = [
        ("fin", 1),
        ("fin", 2),
        ("subflow_closed", 2),
        ("subflow_closed", 3),
        ("connection_closed", 3),
    ];
    assert_eq!(lab.told(), told);
    assert_eq!(
        lab.events[3].text,
        "the subflow is closed by RST of the server"
    );
    assert_eq!(lab.events[3].subflow, Some(1));
    assert_eq!(
        lab.events[4].text,
        "the connection is closed: no subflow is left, one at least was reset"
    );
    assert_eq!(lab.events[4].subflow, None);
    assert_eq!(lab.connection.summary().end, DataEnd::Reset);
}

#[test]
fn the_connection_is_closed_when_both_data_fins_are_acknowledged() {
    let mut lab = Lab::new(1);
    let data_fin = Draft {
        data_fin: true,
        mapping: Some((1, 0, 1)),
        ..bare(1, 0)
    };
    lab.client(0, data_fin.clone());
    lab.server(0, data_fin);
    lab.server(0, ack(1, 2));
    assert_eq!(lab.connection.summary().end, DataEnd::Open);
    assert!(!lab.told().contains(&("connection_closed", 0)));
    lab.at = 4;
    lab.client(0, ack(1, 2));
    assert_eq!(lab.connection.summary().end, DataEnd::DataFin);
    assert_eq!(lab.told().last(), Some(&("connection_closed", 4)));
    // Later events are of the subflow only.
    lab.client(0, fin());
    lab.server(0, fin());
    assert_eq!(lab.told().last(), Some(&("subflow_closed", 4)));
}

#[test]
fn the_end_is_the_one_that_the_event_tells() {
    let mut lab = Lab::new(1);
    let data_fin = Draft {
        data_fin: true,
        mapping: Some((1, 0, 1)),
        ..bare(1, 0)
    };
    lab.client(0, data_fin.clone());
    lab.server(0, data_fin);
    lab.server(0, ack(1, 2));
    // The DATA_FIN of the server is never acknowledged.
    lab.client(0, fin());
    lab.server(0, fin());
    let last = lab.events.last().expect("an event");
    assert_eq!(last.text, "the connection is closed: both ends sent FIN");
    let summary = lab.connection.summary();
    assert_eq!(summary.end, DataEnd::Fin);
    assert!(summary.server.data_fin_ns.is_some());
    assert_eq!(summary.server.data_fin_acknowledged_ns, None);
}

#[test]
fn a_fast_close_ends_the_connection() {
    let mut lab = Lab::new(1);
    let draft = ack(1, 1);
    let mut segment = lab.segment(0, Side::Client, &draft);
    segment
        .options
        .mptcp
        .push(MptcpOption::FastClose { receiver_key: 1 });
    let verdict = Verdict {
        sequence: 1,
        acknowledgement: Some(1),
        ..Verdict::of(Kind::Acknowledgement)
    };
    lab.client_sends(&segment, &verdict);
    assert_eq!(lab.connection.summary().end, DataEnd::FastClose);
}

#[test]
fn resets_carry_nothing() {
    let mut lab = Lab::new(1);
    let mut reset = data(1, 1, 100);
    reset.flags.rst = true;
    lab.client(0, reset);
    assert_eq!(
        (lab.sent_by_client().packets, lab.sent_by_client().bytes),
        (2, 0)
    );
    assert_eq!(lab.connection.summary().end, DataEnd::Reset);
}
