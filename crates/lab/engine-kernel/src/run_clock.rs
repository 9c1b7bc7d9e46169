//! The clock of a run, which stands still while the run is paused.
//!
//! Its moments are those of the monotonic clock, less the time for which it has stood: what the run
//! records and waits for by this clock has no gap where it was paused. Reading it takes no lock.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use mptcplab_link::Nanos;

/// Longest time for which a thread that waits for the clock does not look whether it is to end.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// The bit of a state that stands; the others are the moment.
const STANDS: u64 = 1 << 63;
/// The state of a clock that runs and shows what the monotonic clock shows. Steps can bring it ahead.
const EVEN: u64 = 1 << 62;
/// The state in which the moment to stand at is being read.
const STOPPING: u64 = u64::MAX;

/// The clock. Cheap to clone; all clones are the same clock.
#[derive(Clone)]
pub struct RunClock(Arc<Inner>);

struct Inner {
    /// The clock's first moment, from which others are counted, in nanoseconds.
    origin: Instant,
    zero: OnceLock<Instant>,
    /// Of a clock that runs, [`EVEN`] and the time by which it is behind the monotonic clock; of one
    /// that stands, [`STANDS`] and its moment.
    state: AtomicU64,
    pauses: Mutex<Vec<Pause>>,
    changed: Condvar,
}

/// A time for which the clock stood.
struct Pause {
    /// The moment at which it stood first.
    began: Nanos,
    /// The same moment on the monotonic clock.
    began_real: Nanos,
    /// The moment and the time of the monotonic clock at which it went on.
    went_on: Option<(Nanos, Nanos)>,
}

impl Default for RunClock {
    fn default() -> Self {
        Self(Arc::new(Inner {
            origin: Instant::now(),
            zero: OnceLock::new(),
            state: AtomicU64::new(EVEN),
            pauses: Mutex::default(),
            changed: Condvar::new(),
        }))
    }
}

impl RunClock {
    /// Begins the run, with this moment as its zero, unless it has begun; returns its zero.
    pub fn begin_at(&self, zero: Instant) -> Instant {
        *self.0.zero.get_or_init(|| zero)
    }

    /// The run's zero; waits until it has begun.
    pub fn zero(&self) -> Instant {
        *self.0.zero.wait()
    }

    /// Nanoseconds since the run's zero; 0 before it has begun.
    pub fn now(&self) -> Nanos {
        let zero = self.0.zero.get();
        zero.map_or(0, |zero| {
            self.instant().saturating_duration_since(*zero).as_nanos() as Nanos
        })
    }

    /// The present moment. It never goes back.
    pub fn instant(&self) -> Instant {
        self.0.origin + Duration::from_nanos(self.moment())
    }

    /// The present moment, in nanoseconds since the clock's first.
    pub(crate) fn moment(&self) -> Nanos {
        let mut state = self.0.state.load(Ordering::Acquire);
        loop {
            let moment = match state & STANDS {
                0 => self.real() + EVEN - state,
                _ => state & !STANDS,
            };
            // The clock may have been stopped, or have gone on, between the two readings.
            let after = self.0.state.load(Ordering::Acquire);
            if after == state && state != STOPPING {
                return moment;
            }
            spin_loop();
            state = after;
        }
    }

    /// A moment, in nanoseconds since the clock's first.
    pub(crate) fn moment_of(&self, instant: Instant) -> Nanos {
        instant.saturating_duration_since(self.0.origin).as_nanos() as Nanos
    }

    /// Nanoseconds from the run's zero to a time of the monotonic clock that has passed.
    pub fn at(&self, real: Instant) -> Nanos {
        let real = self.moment_of(real);
        let pauses = self.pauses();
        let before = pauses.iter().rev().find(|one| one.began_real <= real);
        let moment = match before {
            None => real,
            Some(Pause {
                went_on: Some((moment, went_on_real)),
                ..
            }) if *went_on_real <= real => moment + (real - went_on_real),
            Some(pause) => pause.began,
        };
        let moment = self.0.origin + Duration::from_nanos(moment);
        let zero = self.0.zero.get();
        zero.map_or(0, |zero| {
            moment.saturating_duration_since(*zero).as_nanos() as Nanos
        })
    }

    /// Whether it stands still.
    pub fn stands(&self) -> bool {
        self.0.state.load(Ordering::Acquire) & STANDS != 0
    }

    /// Stops it, if it runs.
    pub fn stop(&self) {
        let mut pauses = self.pauses();
        let state = self.0.state.load(Ordering::Acquire);
        if state & STANDS != 0 {
            return;
        }
        // No reader gives a moment until this one, which is not before any that was given, is known.
        self.0.state.store(STOPPING, Ordering::SeqCst);
        let began_real = self.real();
        let began = began_real + EVEN - state;
        self.0.state.store(STANDS | began, Ordering::SeqCst);
        pauses.push(Pause {
            began,
            began_real,
            went_on: None,
        });
        self.0.changed.notify_all();
    }

    /// Lets it show a later moment, in nanoseconds since its first, while it stands.
    pub(crate) fn advance_to(&self, moment: Nanos) {
        let _pauses = self.pauses();
        let state = self.0.state.load(Ordering::Acquire);
        // A deadline that never comes, as of a rate of nearly nothing, must not look like another state.
        let moment = moment.min(EVEN);
        if state & STANDS != 0 && moment > state & !STANDS {
            self.0.state.store(STANDS | moment, Ordering::SeqCst);
            self.0.changed.notify_all();
        }
    }

    /// Lets it go on, if it stands, from the moment that it shows; gives the time for which it stood.
    pub fn go_on(&self) -> Option<Duration> {
        let mut pauses = self.pauses();
        let state = self.0.state.load(Ordering::Acquire);
        let pause = pauses.last_mut().filter(|_| state & STANDS != 0)?;
        let (moment, real) = (state & !STANDS, self.real());
        pause.went_on = Some((moment, real));
        let stood = Duration::from_nanos(real - pause.began_real);
        self.0.state.store(real + EVEN - moment, Ordering::SeqCst);
        self.0.changed.notify_all();
        Some(stood)
    }

    /// Rests while it stands, until it is changed, or for a short while.
    pub fn rest(&self) {
        let pauses = self.pauses();
        if self.stands() {
            let changed = self.0.changed.wait_timeout(pauses, LOOK);
            drop(changed.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// The next message, unless `due` comes before.
    ///
    /// # Errors
    /// When `due` has come, or there is no sender left.
    pub fn receive_by<T>(&self, inbox: &Receiver<T>, due: Instant) -> Result<T, RecvTimeoutError> {
        loop {
            let left = due.saturating_duration_since(self.instant());
            if !self.stands() {
                match inbox.recv_timeout(left) {
                    Err(RecvTimeoutError::Timeout) if self.instant() < due => continue,
                    other => return other,
                }
            }
            match inbox.try_recv() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) if left.is_zero() => {
                    return Err(RecvTimeoutError::Timeout);
                }
                Err(TryRecvError::Empty) => self.rest(),
            }
        }
    }

    /// The monotonic clock.
    fn real(&self) -> Nanos {
        self.0.origin.elapsed().as_nanos() as Nanos
    }

    fn pauses(&self) -> MutexGuard<'_, Vec<Pause>> {
        self.0.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_clock_that_stands_shows_one_moment_and_goes_on_from_it() {
        let clock = RunClock::default();
        let zero = clock.begin_at(clock.instant());
        clock.stop();
        let (at, moment) = (clock.now(), clock.instant());
        thread::sleep(20 * MS);
        assert_eq!((clock.now(), clock.instant()), (at, moment));
        assert!(clock.stands());
        let real = Instant::now();
        assert!(clock.go_on().unwrap() >= 20 * MS);
        assert!(!clock.stands());
        assert_eq!(clock.go_on(), None, "it runs");
        let passed = clock.instant() - moment;
        assert!(passed <= real.elapsed(), "no time of the pause has passed");
        assert_eq!(clock.zero(), zero);
    }

    #[test]
    fn times_of_the_monotonic_clock_within_a_pause_are_the_moment_at_which_it_began() {
        let clock = RunClock::default();
        clock.begin_at(clock.instant());
        let before = Instant::now();
        assert_eq!(
            clock.at(before),
            (before - clock.zero()).as_nanos() as Nanos
        );
        clock.stop();
        let at = clock.now();
        let within = Instant::now();
        clock.advance_to(clock.moment() + 5_000_000);
        thread::sleep(10 * MS);
        clock.go_on();
        let after = Instant::now();
        assert_eq!(clock.at(within), at);
        assert!(clock.at(after) >= at + 5_000_000);
        assert!(clock.at(after) <= clock.now());
    }

    #[test]
    fn it_never_goes_back_for_any_reader() {
        let clock = RunClock::default();
        clock.begin_at(clock.instant());
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut last = clock.instant();
                    while !ended.load(Ordering::Relaxed) {
                        let moment = clock.instant();
                        assert!(moment >= last);
                        last = moment;
                    }
                });
            }
            for _ in 0..2000 {
                clock.stop();
                clock.advance_to(clock.moment() + 3_000);
                clock.go_on();
            }
            ended.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn a_moment_comes_only_while_it_runs_or_by_a_step() {
        let clock = &RunClock::default();
        clock.begin_at(clock.instant());
        clock.stop();
        let (moment, due) = (clock.instant(), clock.instant() + 5 * MS);
        let (sender, inbox) = channel::<()>();
        let inbox = thread::scope(|scope| {
            let waiting = scope.spawn(move || {
                let end = clock.receive_by(&inbox, due);
                (end, clock.instant(), inbox)
            });
            thread::sleep(20 * MS);
            assert!(!waiting.is_finished(), "{moment:?} is not {due:?}");
            clock.advance_to(clock.moment_of(due));
            let (end, at, inbox) = waiting.join().unwrap();
            assert_eq!((end, at), (Err(RecvTimeoutError::Timeout), due));
            inbox
        });
        clock.go_on();
        let due = clock.instant() + 5 * MS;
        assert_eq!(
            clock.receive_by(&inbox, due),
            Err(RecvTimeoutError::Timeout)
        );
        assert!(clock.instant() >= due);
        drop(sender);
        let far = clock.instant() + 1000 * MS;
        assert_eq!(
            clock.receive_by(&inbox, far),
            Err(RecvTimeoutError::Disconnected)
        );
    }
}
