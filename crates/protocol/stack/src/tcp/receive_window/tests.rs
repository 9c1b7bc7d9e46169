//! Tests of the offered window.

use super::*;

fn window() -> ReceiveWindow {
    let limits = BufferLimits {
        max_bytes: 6_291_456,
        ..BufferLimits::RECEIVE
    };
    ReceiveWindow::new(limits, 1460)
}

/// Of a connection of which at least half of the buffer is free.
fn shared(free_bytes: u64, promised_bytes: u64) -> SharedWindow {
    SharedWindow {
        free_bytes,
        promised_bytes,
        is_scarce: false,
    }
}

#[test]
fn what_is_not_read_makes_a_window_of_full_size_narrower() {
    let mut window = window();
    window.advertise(1, 0);
    window.on_data(1448, 1448);
    assert!(!window.is_narrower(1448), "it still grows");
    while window.on_data(1448, 0) {}
    window.advertise(1, 0);
    assert!(!window.is_narrower(0));
    assert!(window.is_narrower(2896));
}

#[test]
fn linux_s_buffer_has_its_first_window_and_scale() {
    assert_eq!(window().shift(), Some(7));
    let mut window = ReceiveWindow::new(BufferLimits::RECEIVE, 1460);
    assert_eq!(window.shift(), Some(10));
    assert_eq!(window.syn_window(1), 64_240);
    assert_eq!(window.right(), 64_241);
}

#[test]
fn the_right_edge_never_moves_back_and_unscaled_by_segments() {
    let mut window = window();
    window.syn_window(1);
    let right = window.right();
    window.advertise(30_001, 32_000);
    assert!(window.right() - right < 128);
    window.advertise(30_001, 30_000);
    assert_eq!(window.right(), 30_001 + 35_584);
    window.disable_scaling();
    window.advertise(30_001, 29_000);
    assert_eq!(window.right(), 30_001 + 35_584);
    window.advertise(30_001, 28_000);
    assert_eq!(window.right(), 30_001 + 37_536);
}

/// The figures are those of Linux 6.18 (`rcv_ssthresh` of `ss`, and the windows in captures).
#[test]
fn the_first_offers_are_those_of_linux() {
    let mut window = ReceiveWindow::new(BufferLimits::RECEIVE, 1460);
    window.on_syn(12);
    assert_eq!(window.syn_window(1), 65_160);
    assert_eq!(window.limit_bytes, 64_088);
    assert_eq!(window.advertise_shared(1, shared(65_536, 0)), 63);
    for limit_bytes in [67_408, 70_304, 73_200] {
        window.on_data(1424, 1424);
        assert_eq!(window.limit_bytes, limit_bytes);
    }
}

/// The second subflow of a capture, whose first data came when the connection offered 70,656
/// bytes.
#[test]
fn a_subflow_begins_with_the_offer_of_its_connection() {
    let mut window = ReceiveWindow::new(BufferLimits::RECEIVE, 1460);
    window.on_syn(12);
    assert_eq!(window.advertise_shared(1, shared(80_896, 70_656)), 69);
    window.on_data(1424, 1424);
    assert_eq!(window.advertise_shared(1425, shared(79_472, 73_728)), 72);
    window.on_data(1424, 1424);
    assert_eq!(window.advertise_shared(2849, shared(78_048, 73_728)), 75);
}

#[test]
fn a_shorter_segment_leaves_no_more_room() {
    let mut window = window();
    while window.on_data(1424, 1424) {}
    assert!(!window.on_data(1400, 1400));
}

#[test]
fn the_offer_follows_the_buffer_with_the_data_that_comes() {
    let mut window = window();
    window.on_data(1448, 1448);
    // 81 920 of 131 072 bytes are payload.
    assert_eq!(window.limit_bytes, 64_240 + 2920);
    for _ in 0..10 {
        window.on_data(1448, 1448);
    }
    // A segment takes 2304 bytes of memory, and so 1440 of the window.
    assert_eq!(window.limit_bytes, 81_920 - 1440);
    window.on_read(10, 30_408, 10, 0, 0);
    window.on_data(1448, 1448);
    assert_eq!(window.limit_bytes, 81_920 - 1440 + 2920);
    window.on_read(20, 100_000_000, 10, 0, 0);
    assert_eq!(window.buffer.memory_bytes(), 6_291_456);
}

/// Else the peer would wait for ever where other subflows have filled a window of which this
/// one has seen little.
#[test]
fn the_last_window_counts_not_the_largest_where_room_is_told() {
    let mut window = window();
    let shared = |promised_bytes| SharedWindow {
        free_bytes: 0,
        promised_bytes,
        is_scarce: true,
    };
    window.advertise_shared(1, shared(60_000));
    assert!(!window.should_update_shared(1, 60_000));
    window.advertise_shared(1, shared(0));
    assert!(window.should_update_shared(1, 60_000));
}

#[test]
fn what_a_shared_window_promised_is_kept() {
    let mut window = window();
    window.syn_window(1);
    assert_eq!(window.advertise_shared(1, shared(10_000, 200_000)), 1562);
    assert_eq!(window.advertise_shared(1, shared(200_000, 10_000)), 502);
    assert_eq!(window.advertised_bytes(), 64_256);
}
