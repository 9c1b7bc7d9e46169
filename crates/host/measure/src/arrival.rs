//! Data of a socket, with the time at which the kernel got them.

use std::io::{self, IoSliceMut};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, SystemTime};

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;

/// Lets the kernel stamp what comes. Without it, [`read`] gives no times.
pub(crate) fn stamp(stream: &TcpStream) {
    // Kernels before 5.12 lack it for MPTCP.
    let _ = setsockopt(stream, sockopt::ReceiveTimestampns, &true);
}

/// Reads what is there: how much, and when the kernel got the last of it.
///
/// # Errors
/// Those of recvmsg(2).
pub(crate) fn read(
    stream: &TcpStream,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<SystemTime>)> {
    let mut control = nix::cmsg_space!(TimeSpec);
    let mut pieces = [IoSliceMut::new(buffer)];
    let flags = MsgFlags::empty();
    let message = recvmsg::<()>(stream.as_raw_fd(), &mut pieces, Some(&mut control), flags)?;
    let stamped = message.cmsgs()?.find_map(|one| match one {
        ControlMessageOwned::ScmTimestampns(time) => Some(since_the_epoch(time)),
        _ => None,
    });
    Ok((message.bytes, stamped))
}

fn since_the_epoch(time: TimeSpec) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from(time)
}

/// The time from sending until the kernel had the answer, of a reader that had it after `elapsed`: it
/// may have waited for a processor. Where the clock was set meanwhile, it is `elapsed`.
pub(crate) fn round_trip(
    sent: SystemTime,
    arrived: Option<SystemTime>,
    elapsed: Duration,
) -> Duration {
    arrived
        .and_then(|time| time.duration_since(sent).ok())
        .filter(|time| *time <= elapsed)
        .unwrap_or(elapsed)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn what_is_read_late_has_come_before() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        stamp(&far);
        let mut stamped = || {
            let sent = SystemTime::now();
            near.write_all(b"ping").unwrap();
            let mut looked = [0; 4];
            // It has come.
            far.peek(&mut looked).unwrap();
            let before = SystemTime::now();
            let (count, time) = read(&far, &mut looked).unwrap();
            assert_eq!(&looked[..count], b"ping");
            time.map(|time| (sent, time, before))
        };
        // The kernel begins to stamp some time after the first socket has asked for it.
        let (sent, time, before) = (0..1_000)
            .find_map(|_| {
                stamped().or_else(|| {
                    thread::sleep(Duration::from_millis(1));
                    None
                })
            })
            .expect("a stamp");
        assert!(sent <= time && time <= before);
    }

    #[test]
    fn a_clock_that_was_set_does_not_count() {
        let at = |ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
        let elapsed = Duration::from_millis(12);
        let rtt = |arrived| round_trip(at(1_000), arrived, elapsed);
        assert_eq!(rtt(Some(at(1_010))), Duration::from_millis(10));
        assert_eq!(rtt(Some(at(1_013))), elapsed);
        assert_eq!(rtt(Some(at(500))), elapsed);
        assert_eq!(rtt(None), elapsed);
    }
}
