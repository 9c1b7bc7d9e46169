//! Refused configurations, and how configurations are written.

use mptcplab_link::{
    DirectionConfig, Discipline, Duplex, Jitter, Link, LinkChange, LinkConfig, Loss, QueueConfig,
    Rate, Reordering,
};
use serde_json::{Value, json};

use crate::support::RATE;

/// The refusal of a link whose second direction is this.
fn refusal(duplex: Duplex, direction: DirectionConfig) -> String {
    let config = LinkConfig {
        duplex,
        directions: [DirectionConfig::default(), direction],
    };
    Link::<()>::new(&config, 1)
        .expect_err("a refusal")
        .to_string()
}

fn default() -> DirectionConfig {
    DirectionConfig::default()
}

fn chain(p: f64, r: f64, loss_good: f64, loss_bad: f64) -> DirectionConfig {
    DirectionConfig {
        loss: Loss::GilbertElliott {
            p,
            r,
            loss_good,
            loss_bad,
        },
        ..default()
    }
}

fn trace(opportunities_ms: &[u64]) -> DirectionConfig {
    let rate = Rate::Trace {
        opportunities_ms: opportunities_ms.to_vec(),
    };
    DirectionConfig { rate, ..default() }
}

#[test]
fn what_cannot_be_honoured_is_refused_by_name() {
    let loss = |probability| Loss::Random { probability };
    let reordering = Some(Reordering {
        probability: 2.0,
        extra_ns: 1,
    });
    let discipline = Discipline::CoDel {
        target_ns: 1,
        interval_ns: 0,
    };
    let queue = QueueConfig {
        discipline,
        ..QueueConfig::default()
    };
    let cases = [
        (
            DirectionConfig {
                loss: loss(1.5),
                ..default()
            },
            "loss.probability is 1.5; a probability is from 0 to 1",
        ),
        (
            DirectionConfig {
                loss: loss(f64::NAN),
                ..default()
            },
            "loss.probability is NaN; a probability is from 0 to 1",
        ),
        (
            chain(-0.1, 0.0, 0.0, 0.0),
            "loss.p is -0.1; a probability is from 0 to 1",
        ),
        (
            chain(0.0, 1.1, 0.0, 0.0),
            "loss.r is 1.1; a probability is from 0 to 1",
        ),
        (
            chain(0.0, 0.0, 7.0, 0.0),
            "loss.loss_good is 7; a probability is from 0 to 1",
        ),
        (
            chain(0.0, 0.0, 0.0, f64::INFINITY),
            "loss.loss_bad is inf; a probability is from 0 to 1",
        ),
        (
            DirectionConfig {
                reordering,
                ..default()
            },
            "reordering.probability is 2; a probability is from 0 to 1",
        ),
        (
            DirectionConfig {
                duplication: -1.0,
                ..default()
            },
            "duplication is -1; a probability is from 0 to 1",
        ),
        (
            DirectionConfig {
                rate: Rate::Fixed { bits_per_second: 0 },
                ..default()
            },
            "rate.bits_per_second is 0; a link that carries nothing is not up",
        ),
        (trace(&[]), "rate.opportunities_ms is empty"),
        (
            trace(&[1, 4, 3, 2]),
            "rate.opportunities_ms goes back in time at entry 2",
        ),
        (
            trace(&[0, 0]),
            "rate.opportunities_ms ends at 0 ms; its last entry is its length",
        ),
        (
            trace(&[1, 20_000_000_000_000]),
            "rate.opportunities_ms is longer than 584 years",
        ),
        (
            DirectionConfig { queue, ..default() },
            "queue.discipline.interval_ns is 0; RFC 8289 recommends 100 ms",
        ),
    ];
    for (direction, message) in cases {
        assert_eq!(
            refusal(Duplex::Full, direction),
            format!("direction 1: {message}")
        );
    }
    let bucket = DirectionConfig {
        rate: RATE,
        burst_bytes: 1,
        ..default()
    };
    assert_eq!(
        refusal(Duplex::Half, bucket),
        "direction 1: burst_bytes needs a full-duplex link; leave it out or make it full duplex"
    );
}

#[test]
fn a_change_is_refused_for_the_same_reasons() {
    let half = LinkConfig {
        duplex: Duplex::Half,
        ..LinkConfig::default()
    };
    let mut link = Link::<()>::new(&half, 1).unwrap();
    let cases = [
        (
            LinkChange {
                direction: Some(2),
                ..LinkChange::default()
            },
            "direction is 2; a link has the directions 0 and 1",
        ),
        (
            LinkChange {
                duplication: Some(2.0),
                ..LinkChange::default()
            },
            "direction 0: duplication is 2; a probability is from 0 to 1",
        ),
        (
            LinkChange {
                direction: Some(1),
                loss: Some(Loss::Random { probability: -1.0 }),
                ..LinkChange::default()
            },
            "direction 1: loss.probability is -1; a probability is from 0 to 1",
        ),
        (
            LinkChange {
                reordering: Some(Reordering {
                    probability: 3.0,
                    extra_ns: 0,
                }),
                ..LinkChange::default()
            },
            "direction 0: reordering.probability is 3; a probability is from 0 to 1",
        ),
        (
            LinkChange {
                burst_bytes: Some(1),
                ..LinkChange::default()
            },
            "direction 0: burst_bytes needs a full-duplex link; \
             leave it out or make it full duplex",
        ),
    ];
    for (change, message) in cases {
        assert_eq!(
            link.change(0, &change).expect_err("a refusal").to_string(),
            message
        );
    }
}

#[test]
fn the_ends_of_each_range_are_taken() {
    let directions = [
        DirectionConfig {
            duplication: 1.0,
            ..chain(0.0, 1.0, 0.0, 1.0)
        },
        DirectionConfig {
            rate: Rate::Fixed { bits_per_second: 1 },
            ..default()
        },
    ];
    assert!(
        Link::<()>::new(
            &LinkConfig {
                duplex: Duplex::Half,
                directions
            },
            1
        )
        .is_ok()
    );
}

fn direction_as_json() -> Value {
    json!({
        "rate": {"kind": "fixed", "bits_per_second": 100_000_000},
        "burst_bytes": 0,
        "framing_bytes": 38,
        "delay_ns": 10_000_000,
        "jitter": {"kind": "uniform", "range_ns": 1000},
        "loss": {"kind": "gilbert_elliott", "p": 0.01, "r": 0.5, "loss_good": 0, "loss_bad": 1},
        "reordering": {"probability": 0.1, "extra_ns": 5},
        "duplication": 0.5,
        "queue": {
            "limit_packets": 100,
            "limit_bytes": null,
            "discipline": {"kind": "codel", "target_ns": 5, "interval_ns": 100}
        },
        "up": true
    })
}

#[test]
fn a_configuration_reads_as_it_is_written() {
    let expected = DirectionConfig {
        rate: RATE,
        burst_bytes: 0,
        least_packet_ns: 0,
        framing_bytes: 38,
        delay_ns: 10_000_000,
        jitter: Jitter::Uniform { range_ns: 1000 },
        loss: Loss::GilbertElliott {
            p: 0.01,
            r: 0.5,
            loss_good: 0.0,
            loss_bad: 1.0,
        },
        reordering: Some(Reordering {
            probability: 0.1,
            extra_ns: 5,
        }),
        duplication: 0.5,
        queue: QueueConfig {
            limit_packets: Some(100),
            limit_bytes: None,
            discipline: Discipline::CoDel {
                target_ns: 5,
                interval_ns: 100,
            },
        },
        up: true,
    };
    let config = json!({"duplex": "half", "directions": [direction_as_json(), default()]});
    let read: LinkConfig = serde_json::from_value(config).unwrap();
    assert_eq!(
        read,
        LinkConfig {
            duplex: Duplex::Half,
            directions: [expected, default()]
        }
    );
    assert_eq!(
        read,
        serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap()
    );
}

#[test]
fn a_change_names_only_what_it_changes() {
    let change: LinkChange =
        serde_json::from_value(json!({"direction": 1, "limits": {"limit_packets": 5}})).unwrap();
    assert_eq!(change.direction, Some(1));
    let limits = change.limits.unwrap();
    assert_eq!((limits.limit_packets, limits.limit_bytes), (Some(5), None));
    assert_eq!(change.rate, None);
}

#[test]
fn an_unknown_key_is_refused_wherever_it_stands() {
    let mut places = Vec::new();
    for place in [
        "",
        "/rate",
        "/jitter",
        "/loss",
        "/reordering",
        "/queue",
        "/queue/discipline",
    ] {
        let mut direction = direction_as_json();
        direction.pointer_mut(place).unwrap()["colour"] = json!("red");
        places.push(direction);
    }
    for (place, none) in [
        ("rate", json!({"kind": "unlimited", "colour": "red"})),
        ("jitter", json!({"kind": "none", "colour": "red"})),
        ("loss", json!({"kind": "none", "colour": "red"})),
    ] {
        let mut direction = direction_as_json();
        direction[place] = none;
        places.push(direction);
    }
    let mut direction = direction_as_json();
    direction["queue"]["discipline"] = json!({"kind": "drop_tail", "colour": "red"});
    places.push(direction);
    for direction in places {
        let read = serde_json::from_value::<DirectionConfig>(direction.clone());
        let error = read.expect_err(&direction.to_string()).to_string();
        assert!(error.contains("colour"), "{error}");
    }
    assert!(serde_json::from_value::<LinkChange>(json!({"colour": "red"})).is_err());
}
