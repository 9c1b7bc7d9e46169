//! Connections at the target: what they are, and those for data.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::session::{self, TIME_TO_PROVE};
use super::{Inner, Lease};
use crate::authorisation::{GO, OPENING_BYTES};
use crate::content;
use crate::data::{Shared, prepare};
use crate::message::{Ended, Role};
use crate::observe::seen;
use crate::syn::{self, SynOptions};

/// The first byte of a handshake of TLS (RFC 8446, section 5.1).
const TLS_HANDSHAKE: u8 = 22;
/// Unsent data that a socket of TCP holds where several connections share what is to be sent.
static UNSENT_BYTES: libc::c_int = 32 << 10;

/// The listener that has accepted a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listener {
    Control,
    Data,
}

/// Serves a connection of anybody; `proved` is called once it is a holder's.
///
/// # Errors
/// Those of the socket; whoever has no authorisation is left without a byte.
pub(super) fn serve(
    inner: &Arc<Inner>,
    mut stream: TcpStream,
    listener: Listener,
    proved: impl FnOnce(),
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    if listener == Listener::Control {
        stream.set_read_timeout(Some(TIME_TO_PROVE))?;
        let mut first = [0];
        if stream.peek(&mut first)? == 1 && first[0] == TLS_HANDSHAKE {
            return session::serve(inner, stream, proved);
        }
    }
    let Some(opening) = read_opening(&mut stream)? else {
        return Ok(());
    };
    let lease = inner.current.lock().expect("no panic").clone();
    if let Some(lease) = lease
        && let Some((place, role)) = lease.admit(&opening)
    {
        proved();
        let syn = match listener {
            Listener::Control => saved_syn(&stream),
            Listener::Data => None,
        };
        lease.carry(place, |shared, account| {
            account.syn = syn;
            let done = carry(&stream, &lease, (place, role), shared, account);
            account.failure = done.err().map(|error| error.to_string());
            account.seen = seen(&stream);
        });
    }
    Ok(())
}

/// The first bytes, all of which come in the time for a proof; `None` where they do not.
fn read_opening(stream: &mut TcpStream) -> io::Result<Option<[u8; OPENING_BYTES]>> {
    let until = Instant::now() + TIME_TO_PROVE;
    let mut opening = [0; OPENING_BYTES];
    let mut count = 0;
    while count < OPENING_BYTES {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut opening[count..]) {
            Ok(0) => return Ok(None),
            Ok(more) => count += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(opening))
}

fn carry(
    stream: &TcpStream,
    lease: &Lease,
    (place, role): (usize, Role),
    shared: &Shared<'_>,
    account: &mut Ended,
) -> io::Result<()> {
    use std::io::Write;
    prepare(stream)?;
    if let Some(control) = &lease.experiment.congestion_control {
        SockRef::from(stream).set_tcp_congestion(control.as_bytes())?;
    }
    if role == Role::Send && lease.experiment.bulk_connections() > 1 {
        keep_little_unsent(stream);
    }
    let mut writer = stream;
    writer.write_all(&[GO])?;
    match role {
        Role::Send => {
            shared.send(stream, account)?;
            // The peer's end says that all has come.
            shared.read_message(stream, &mut [0]).map(|_| ())
        }
        Role::Receive => shared.receive(stream, account),
        Role::Echo(most) => shared.echo(stream, most, account),
        Role::Compare(bytes) => {
            let number = u8::try_from(place).map_err(io::Error::other)?;
            let known = content::known(&lease.nonce, number, bytes.into());
            shared.compare(stream, &known, account)?;
            // The peer closes it.
            shared.read_message(stream, &mut [0]).map(|_| ())
        }
    }
}

/// Keeps the unsent data of a socket small, where several of this end share what is to be sent: no
/// other one can send them. Sockets of MPTCP lack the option on some kernels, and then hold more.
pub(crate) fn keep_little_unsent(stream: &TcpStream) {
    // SAFETY: the kernel reads an int, of the length that is given.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_NOTSENT_LOWAT,
            (&raw const UNSENT_BYTES).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        );
    }
}

/// The options of the SYN of a connection, whose listener saves SYNs.
fn saved_syn(stream: &TcpStream) -> Option<SynOptions> {
    let mut headers = [0u8; 256];
    let mut length = headers.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `headers`, and the length to `length`.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_SAVED_SYN,
            headers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (result == 0)
        .then(|| syn::parse(headers.get(..length as usize)?))
        .flatten()
}
