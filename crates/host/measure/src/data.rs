//! Data over a connection, at either end: sent and received until all has gone, the time is over, or
//! nobody wants more.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::arrival;
use crate::bucket::Bucket;
use crate::content::content;
use crate::message::{ECHO_BYTES, Ended, Ending};

/// Time after which a blocked call looks whether it shall go on.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Distance of two samples.
const SAMPLE_DISTANCE: Duration = Duration::from_millis(100);
/// Samples of a connection at most.
const MOST_SAMPLES: usize = 620;
/// Data of one call.
const PIECE_BYTES: usize = 128 << 10;
/// The same at most where several connections share what is to be sent: what one of them has taken,
/// the others cannot send any more.
const SHARED_PIECE_BYTES: usize = 16 << 10;
/// Pieces that each of them sends at least, of data that are few.
const PIECES_OF_EACH: u64 = 16;
/// The payload of a segment on most paths: smaller pieces would not fill one.
const LEAST_PIECE_BYTES: u64 = 1_460;

/// All connections of an experiment together.
pub(crate) struct Shared<'a> {
    /// Payload that may still be carried.
    pub(crate) left_bytes: &'a AtomicU64,
    /// Payload that has been carried.
    pub(crate) moved_bytes: &'a AtomicU64,
    /// The beginning of samples and durations.
    pub(crate) began: Instant,
    /// The end of all sending and receiving.
    pub(crate) until: Instant,
    /// Tells whether to stop at once.
    pub(crate) is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// The limit of rate.
    pub(crate) bucket: Option<&'a Mutex<Bucket>>,
    /// Data of one call at most.
    pub(crate) piece_bytes: usize,
}

/// Data of one call where so many connections carry so much together, within a limit of rate.
pub(crate) fn piece_bytes(connections: usize, bytes: u64, rate_limit_bps: Option<u64>) -> usize {
    let piece = if connections > 1 {
        let share = bytes / (PIECES_OF_EACH * connections as u64);
        share.clamp(LEAST_PIECE_BYTES, SHARED_PIECE_BYTES as u64) as usize
    } else {
        PIECE_BYTES
    };
    // A fiftieth of a second.
    let limit = rate_limit_bps.map_or(u64::MAX, |rate| (rate / 8 / 50).max(1_000));
    piece.min(usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Lets calls on a socket return from time to time.
///
/// # Errors
/// Those of setsockopt(2).
pub(crate) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(LOOK_AGAIN))?;
    stream.set_write_timeout(Some(LOOK_AGAIN))?;
    // Kernels before 5.17 lack it for MPTCP.
    let _ = stream.set_nodelay(true);
    Ok(())
}

impl Shared<'_> {
    fn is_over(&self) -> bool {
        (self.is_stopped)() || Instant::now() >= self.until
    }

    /// Takes a part of what may be carried.
    fn take(&self, most: usize) -> usize {
        let mut taken = 0;
        let _ = self
            .left_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                taken = left.min(most as u64);
                Some(left - taken)
            });
        taken as usize
    }

    fn pace(&self, bytes: usize) {
        if let Some(bucket) = self.bucket {
            let now = self.began.elapsed();
            let wait = bucket.lock().expect("no panic").take(bytes, now);
            thread::sleep(wait.min(self.until.saturating_duration_since(Instant::now())));
        }
    }

    /// Keeps the time and the reason of the end of a connection's data.
    fn keep_ending(&self, account: &mut Ended, ending: &io::Result<Ending>) {
        account.ended_us = micros(self.began.elapsed());
        account.ended_moved_by_all_bytes = self.moved_bytes.load(Ordering::Relaxed);
        account.ended_by = Some(*ending.as_ref().unwrap_or(&Ending::Error));
    }

    /// The reason for which [`Self::is_over`] says so.
    fn over(&self) -> Ending {
        match (self.is_stopped)() {
            true => Ending::Stopped,
            false => Ending::TimeOver,
        }
    }

    /// Sends what may be carried, and closes the connection's sending side.
    ///
    /// # Errors
    /// Those of send(2) and shutdown(2).
    pub(crate) fn send(&self, stream: &TcpStream, account: &mut Ended) -> io::Result<()> {
        let ending = self.send_pieces(stream, account);
        self.keep_ending(account, &ending);
        ending?;
        stream.shutdown(Shutdown::Write)
    }

    fn send_pieces(&self, stream: &TcpStream, account: &mut Ended) -> io::Result<Ending> {
        let content = content();
        let mut place = 0;
        loop {
            let piece = self.take(self.piece_bytes.min(content.len() - place));
            if piece == 0 {
                return Ok(Ending::AllSent);
            }
            let before = account.sent_bytes;
            let done = self.send_all(stream, &content[place..][..piece], account);
            // An error may come after a part of it.
            let unsent = piece as u64 - (account.sent_bytes - before);
            self.left_bytes.fetch_add(unsent, Ordering::Relaxed);
            done?;
            if unsent > 0 {
                return Ok(self.over());
            }
            place = (place + piece) % content.len();
            self.pace(piece);
        }
    }

    /// Sends it all, or what goes until it is over.
    fn send_all(
        &self,
        mut stream: &TcpStream,
        piece: &[u8],
        account: &mut Ended,
    ) -> io::Result<()> {
        let mut sent = 0;
        while sent < piece.len() && !self.is_over() {
            match stream.write(&piece[sent..]) {
                Ok(count) => {
                    sent += count;
                    account.sent_bytes += count as u64;
                }
                Err(error) if is_transient(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Receives until the peer closes its side.
    ///
    /// # Errors
    /// Those of recv(2), and `InvalidData` where more comes than may be carried.
    pub(crate) fn receive(&self, stream: &TcpStream, account: &mut Ended) -> io::Result<()> {
        let ending = self.receive_pieces(stream, account);
        self.keep_ending(account, &ending);
        ending.map(|_| ())
    }

    fn receive_pieces(&self, mut stream: &TcpStream, account: &mut Ended) -> io::Result<Ending> {
        let mut buffer = vec![0; self.piece_bytes];
        let mut next_sample = SAMPLE_DISTANCE;
        while !self.is_over() {
            // One byte more than may come tells that more comes.
            let left = self.left_bytes.load(Ordering::Relaxed).saturating_add(1);
            let most = buffer
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            let count = match stream.read(&mut buffer[..most]) {
                Ok(0) => return Ok(Ending::EndOfStream),
                Ok(count) => count,
                Err(error) if is_transient(&error) => continue,
                Err(error) => return Err(error),
            };
            let t = self.began.elapsed();
            account.received_bytes += count as u64;
            account.duration_us = micros(t);
            let moved = self.moved_bytes.fetch_add(count as u64, Ordering::Relaxed);
            account.moved_by_all_bytes = moved + count as u64;
            if t >= next_sample && account.samples.len() < MOST_SAMPLES {
                account.samples.push((millis(t), account.received_bytes));
                next_sample = t + SAMPLE_DISTANCE;
            }
            if self.take(count) < count {
                // It has come, whether it is read or not.
                account.received_bytes += unread_bytes(stream);
                let text = "more data came than was granted";
                return Err(io::Error::new(ErrorKind::InvalidData, text));
            }
            self.pace(count);
        }
        Ok(self.over())
    }

    /// Sends each message back, so many at most, until the peer closes its side.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn echo(
        &self,
        stream: &TcpStream,
        most: u16,
        account: &mut Ended,
    ) -> io::Result<()> {
        let mut message = [0; ECHO_BYTES];
        for _ in 0..most {
            if !self.read_message(stream, &mut message)? {
                return Ok(());
            }
            account.received_bytes += ECHO_BYTES as u64;
            self.send_all(stream, &message, account)?;
        }
        // The peer closes it.
        self.read_message(stream, &mut [0]).map(|_| ())
    }

    /// Sends what both ends know, and counts the bytes that come and differ from it. No more of it is
    /// sent than a socket holds whose owner reads nothing meanwhile.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn compare(
        &self,
        mut stream: &TcpStream,
        known: &[u8],
        account: &mut Ended,
    ) -> io::Result<()> {
        self.send_all(stream, known, account)?;
        let mut came = vec![0; known.len()];
        let mut count = 0;
        let done = self.read_whole(&mut came, |rest| {
            let more = stream.read(rest)?;
            count += more;
            Ok(more)
        });
        account.received_bytes += count as u64;
        let pairs = came[..count].iter().zip(known);
        account.changed_bytes = Some(pairs.filter(|(came, known)| came != known).count() as u64);
        done.map(|_| ())
    }

    /// Reads a whole message; false where there is none before the end.
    ///
    /// # Errors
    /// Those of recv(2).
    pub(crate) fn read_message(
        &self,
        mut stream: &TcpStream,
        message: &mut [u8],
    ) -> io::Result<bool> {
        self.read_whole(message, |rest| stream.read(rest))
    }

    fn read_whole(
        &self,
        message: &mut [u8],
        mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<bool> {
        let mut count = 0;
        while count < message.len() && !self.is_over() {
            match read(&mut message[count..]) {
                Ok(0) => return Ok(false),
                Ok(more) => count += more,
                Err(error) if is_transient(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count == message.len())
    }

    /// Sends a message and waits for its echo; the time until the kernel has it, where the socket
    /// [stamps](arrival::stamp) what comes, else until it is read. `None` where it is over.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn ping(
        &self,
        stream: &TcpStream,
        message: &[u8; ECHO_BYTES],
        account: &mut Ended,
    ) -> io::Result<Option<Duration>> {
        let began = Instant::now();
        let sent = SystemTime::now();
        self.send_all(stream, message, account)?;
        let mut echo = [0; ECHO_BYTES];
        let mut arrived = None;
        let came = self.read_whole(&mut echo, |rest| {
            let (count, time) = arrival::read(stream, rest)?;
            arrived = time;
            Ok(count)
        })?;
        let elapsed = began.elapsed();
        account.received_bytes += if came { ECHO_BYTES as u64 } else { 0 };
        Ok((came && echo == *message).then(|| arrival::round_trip(sent, arrived, elapsed)))
    }
}

/// Data that the kernel holds for a socket; 0 where it does not tell.
fn unread_bytes(stream: &TcpStream) -> u64 {
    let mut count: libc::c_int = 0;
    // SAFETY: the kernel writes an int.
    let result = unsafe { libc::ioctl(stream.as_raw_fd(), libc::FIONREAD, &raw mut count) };
    match result {
        0 => u64::try_from(count).unwrap_or(0),
        _ => 0,
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
