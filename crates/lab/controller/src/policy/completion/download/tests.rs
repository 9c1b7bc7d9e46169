use super::*;

fn path(megabits: f64, delay_ms: f64) -> ModelPath {
    ModelPath {
        rate: megabits * 1e6 / 8.0,
        round_trip_s: 2.0 * delay_ms / 1e3,
    }
}

fn seconds(bytes: u64, paths: &[ModelPath], protocol: Protocol) -> f64 {
    completion_s(bytes, paths, protocol, f64::INFINITY).expect("there is no limit")
}

#[test]
fn a_path_carries_its_rate_once_slow_start_is_over() {
    let paths = [path(10.0, 10.0)];
    for (protocol, data) in [(Protocol::Tcp, 1448.0), (Protocol::Mptcp, 1420.0)] {
        let least_s = 5e6 * 1500.0 / data / paths[0].rate;
        let time_s = seconds(5_000_000, &paths, protocol);
        assert!(
            (least_s + 0.04..least_s + 0.08).contains(&time_s),
            "{time_s} {least_s}"
        );
        // Three times as much goes on at the rate.
        let long_s = seconds(30_000_000, &paths, protocol);
        assert!(
            (long_s - time_s - 5.0 * least_s).abs() < 0.01 * long_s,
            "{long_s}"
        );
    }
}

#[test]
fn a_second_path_that_is_as_good_halves_the_time_of_a_long_transfer() {
    let one = seconds(5_000_000, &[path(10.0, 10.0)], Protocol::Mptcp);
    let two = seconds(5_000_000, &[path(10.0, 10.0); 2], Protocol::Mptcp);
    assert!((0.49..0.56).contains(&(two / one)), "{two} {one}");
}

#[test]
fn a_limit_changes_no_time_below_it() {
    for (bytes, paths) in [
        (114_000, vec![path(10.0, 5.0), path(8.0, 5.0)]),
        (4_000_000, vec![path(10.0, 25.0), path(2.0, 5.0)]),
        (20_000_000, vec![path(10.0, 5.0)]),
    ] {
        let whole_s = seconds(bytes, &paths, Protocol::Mptcp);
        let limited = |part| completion_s(bytes, &paths, Protocol::Mptcp, part * whole_s);
        assert_eq!(limited(1.001), Some(whole_s));
        for part in [0.0, 0.5, 0.999] {
            assert_eq!(limited(part), None, "{part}");
        }
    }
}

#[test]
fn extreme_paths_have_a_time() {
    for paths in [
        [path(0.05, 1000.0), path(10_000.0, 0.0)],
        [path(10_000.0, 1000.0), path(0.05, 0.0)],
    ] {
        for bytes in [0, 1, 100_000] {
            let time_s = seconds(bytes, &paths, Protocol::Mptcp);
            assert!(time_s.is_finite() && time_s >= 0.0, "{bytes} {time_s}");
        }
    }
    assert_eq!(completion_s(1, &[], Protocol::Tcp, 1.0), None);
}
