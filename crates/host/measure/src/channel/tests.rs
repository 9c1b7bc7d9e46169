use std::net::TcpListener;
use std::thread;

use rustls::ServerConnection;

use super::*;
use crate::target::Identity;
use crate::tls::{client, server_config};
use crate::token::fingerprint;

const LONG: Duration = Duration::from_secs(20);

/// Both ends of a channel over the loopback.
fn pair() -> (Channel, Channel) {
    let identity = Identity::new(0).unwrap();
    let config = server_config(&identity.certificate, &identity.key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    let of_probe = Connection::from(client(fingerprint(&identity.certificate)).unwrap());
    let of_target = Connection::from(ServerConnection::new(config).unwrap());
    let other = thread::spawn(move || {
        Channel::open(of_target, far, Limits::new(LONG, &mut || true)).unwrap()
    });
    let probe = Channel::open(of_probe, near, Limits::new(LONG, &mut || true)).unwrap();
    (probe, other.join().unwrap())
}

#[test]
fn a_message_longer_than_the_buffer_of_tls_arrives() {
    let (mut near, mut far) = pair();
    let text = "x".repeat(300_000);
    let sent = text.clone();
    let sender = thread::spawn(move || {
        near.send(&sent, Limits::new(LONG, &mut || true)).unwrap();
    });
    let came: String = far
        .receive(400_000, Limits::new(LONG, &mut || true))
        .unwrap();
    sender.join().unwrap();
    assert!(came == text);
}

#[test]
fn whoever_waits_is_asked_and_can_stop() {
    let (mut near, _far) = pair();
    let mut asked = 0;
    let mut goes_on = || {
        asked += 1;
        asked < 3
    };
    let stopped = near.receive::<String>(100, Limits::new(LONG, &mut goes_on));
    assert!(matches!(
        own_limit(&stopped.unwrap_err()),
        Some(Error::Stopped)
    ));
    assert_eq!(asked, 3);
}

#[test]
fn a_channel_takes_no_byte_beyond_its_limit() {
    let (mut near, mut far) = pair();
    let before = near.moved_bytes();
    let text = "x".repeat(1_000);
    far.send(&text, Limits::new(LONG, &mut || true)).unwrap();
    let mut goes_on = || true;
    let limits = Limits::new(LONG, &mut goes_on).at_most(500);
    let refused = near.receive::<String>(2_000, limits).unwrap_err();
    assert!(matches!(own_limit(&refused), Some(Error::Budget)));
    assert_eq!(near.moved_bytes() - before, 500);
}

extern "C" fn nothing(_: libc::c_int) {}

#[test]
fn a_signal_does_not_end_a_call() {
    // SAFETY: the handler does nothing, and is installed without SA_RESTART.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
        assert_eq!(
            libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()),
            0
        );
    }
    let (mut near, mut far) = pair();
    // SAFETY: it names the calling thread.
    let waiting = unsafe { libc::pthread_self() };
    let sender = thread::spawn(move || {
        for _ in 0..50 {
            // SAFETY: the thread waits for this one, and lives.
            assert_eq!(unsafe { libc::pthread_kill(waiting, libc::SIGUSR1) }, 0);
            thread::sleep(Duration::from_millis(2));
        }
        far.send(&"text", Limits::new(LONG, &mut || true)).unwrap();
        far
    });
    let came: String = near.receive(100, Limits::new(LONG, &mut || true)).unwrap();
    assert_eq!(came, "text");
    sender.join().unwrap();
}
