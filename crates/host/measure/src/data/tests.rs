use std::net::TcpListener;

use super::*;

/// The state that connections share, which the tests change.
struct World {
    left_bytes: AtomicU64,
    moved_bytes: AtomicU64,
    until: Instant,
}

impl World {
    fn new(bytes: u64, time: Duration) -> Self {
        Self {
            left_bytes: AtomicU64::new(bytes),
            moved_bytes: AtomicU64::new(0),
            until: Instant::now() + time,
        }
    }

    fn shared(&self) -> Shared<'_> {
        Shared {
            left_bytes: &self.left_bytes,
            moved_bytes: &self.moved_bytes,
            began: Instant::now(),
            until: self.until,
            is_stopped: &|| false,
            bucket: None,
            piece_bytes: 16 << 10,
        }
    }
}

const LONG: Duration = Duration::from_secs(20);

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    prepare(&near).unwrap();
    (near, far)
}

#[test]
fn data_beyond_the_grant_are_not_read_but_counted() {
    let (near, mut far) = pair();
    far.write_all(&[0; 5_000]).unwrap();
    // All of it is there.
    while unread_bytes(&near) < 5_000 {
        thread::yield_now();
    }
    let world = World::new(100, LONG);
    let mut account = Ended::default();
    let refused = world.shared().receive(&near, &mut account).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidData);
    assert_eq!(world.moved_bytes.load(Ordering::Relaxed), 101);
    assert_eq!(account.received_bytes, 5_000);
    assert_eq!(account.ended_by, Some(Ending::Error));
}

#[test]
fn a_transfer_that_stalls_lasts_until_its_time_is_over() {
    let (near, mut far) = pair();
    far.write_all(&[0; 100]).unwrap();
    let world = World::new(1_000, Duration::from_millis(300));
    let mut account = Ended::default();
    world.shared().receive(&near, &mut account).unwrap();
    assert_eq!(account.ended_by, Some(Ending::TimeOver));
    assert_eq!(account.received_bytes, 100);
    assert_eq!(account.ended_moved_by_all_bytes, 100);
    assert!(account.ended_us > account.duration_us + 100_000);
}

#[test]
fn what_a_failed_connection_has_sent_is_given_to_no_other() {
    let (near, far) = pair();
    let world = World::new(1 << 30, LONG);
    let reader = thread::spawn(move || {
        let mut far = far;
        far.read_exact(&mut vec![0; 1_000_000]).unwrap();
        // Closed with data unread: a reset.
    });
    let mut account = Ended::default();
    world.shared().send(&near, &mut account).unwrap_err();
    reader.join().unwrap();
    assert!(account.sent_bytes >= 1_000_000);
    let left = world.left_bytes.load(Ordering::Relaxed);
    assert_eq!(left + account.sent_bytes, 1 << 30);
    assert_eq!(account.ended_by, Some(Ending::Error));
}

#[test]
fn connections_that_share_few_data_send_small_pieces() {
    assert_eq!(piece_bytes(1, 10_000, None), PIECE_BYTES);
    assert_eq!(piece_bytes(2, 10_000, None), 1_460);
    assert_eq!(piece_bytes(2, 100_000, None), 3_125);
    assert_eq!(piece_bytes(4, 1 << 30, None), 16 << 10);
    assert_eq!(piece_bytes(4, 1 << 30, Some(8_000_000)), 16 << 10);
    assert_eq!(piece_bytes(4, 1 << 30, Some(800_000)), 2_000);
}
