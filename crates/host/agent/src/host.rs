//! The host, and how busy it is.

use std::fs;
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::clock::boot_time;

/// Beyond these a measurement is not that of the paths.
const MOST_BUSY: f64 = 0.9;
const MOST_STEAL: f64 = 0.1;
/// The same of time in which a thread that measures could have run, and had no processor: others may
/// have those that it may use, though the host has more.
const MOST_WAITED: f64 = 0.1;
/// Ticks of all processors together that tell enough: a tenth of a second of one of them.
const LEAST_TICKS: u64 = 10;
/// Time in which waiting tells enough.
const LEAST_TIME: Duration = Duration::from_millis(100);

/// The kernel's release.
pub(crate) fn kernel() -> String {
    line("/proc/sys/kernel/osrelease")
}

/// The id of this boot.
pub(crate) fn boot_id() -> String {
    line("/proc/sys/kernel/random/boot_id")
}

fn line(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.trim().to_owned()
}

/// The host while an experiment lasted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Host {
    version: &'static str,
    kernel: String,
    processors: usize,
    /// Mean of the last minute.
    load_1m: f64,
    /// Part of the processors' time that was used.
    busy: f64,
    /// The same that another machine on this hardware took.
    steal: f64,
    /// At least one step had too little of a processor.
    starved: bool,
}

/// Times of all processors since the boot, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    all: u64,
    idle: u64,
    steal: u64,
}

/// Watches how busy the processors are.
#[derive(Debug)]
pub(crate) struct Watch {
    first: Ticks,
    last: Ticks,
    /// When `waited` began, since the boot.
    last_time: Duration,
    /// For a processor.
    waited: Duration,
    starved: bool,
}

impl Watch {
    /// From now on.
    pub(crate) fn begin() -> Self {
        let now = ticks();
        Self {
            first: now,
            last: now,
            last_time: boot_time(),
            waited: Duration::ZERO,
            starved: false,
        }
    }

    /// At the end of each step, whose threads have waited at most so long for a processor.
    pub(crate) fn look(&mut self, waited: Duration) {
        self.add(ticks(), boot_time(), waited);
    }

    fn add(&mut self, now: Ticks, time: Duration, waited: Duration) {
        let step = now.since(self.last);
        if step.all >= LEAST_TICKS {
            self.starved |= step.busy() > MOST_BUSY || step.part(step.steal) > MOST_STEAL;
            self.last = now;
        }
        let took = time.saturating_sub(self.last_time);
        self.waited += waited;
        if took >= LEAST_TIME {
            self.starved |= self.waited > took.mul_f64(MOST_WAITED);
            self.last_time = time;
            self.waited = Duration::ZERO;
        }
    }

    /// All of it.
    pub(crate) fn host(&self) -> Host {
        let all = ticks().since(self.first);
        let load = line("/proc/loadavg");
        let load = load
            .split(' ')
            .next()
            .and_then(|number| number.parse().ok());
        Host {
            version: env!("CARGO_PKG_VERSION"),
            kernel: kernel(),
            processors: thread::available_parallelism().map_or(1, usize::from),
            load_1m: load.unwrap_or(0.0),
            busy: all.busy(),
            steal: all.part(all.steal),
            starved: self.starved,
        }
    }
}

impl Ticks {
    fn since(self, earlier: Self) -> Self {
        Self {
            all: self.all.saturating_sub(earlier.all),
            // The kernel's account of idle time may go back (proc_stat(5)).
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    fn busy(self) -> f64 {
        self.part(
            self.all
                .saturating_sub(self.idle)
                .saturating_sub(self.steal),
        )
    }

    fn part(self, ticks: u64) -> f64 {
        let part = ticks as f64 / self.all.max(1) as f64;
        (part.clamp(0.0, 1.0) * 1e3).round() / 1e3
    }
}

fn ticks() -> Ticks {
    fs::read_to_string("/proc/stat")
        .ok()
        .and_then(|text| parse(&text))
        .unwrap_or_default()
}

/// Of the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. What
/// guests take is in user already.
fn parse(text: &str) -> Option<Ticks> {
    let numbers = text.lines().next()?.strip_prefix("cpu ")?;
    let numbers: Vec<u64> = numbers
        .split_whitespace()
        .map_while(|number| number.parse().ok())
        .take(8)
        .collect();
    let &[_, _, _, idle, iowait, _, _, steal] = &numbers[..] else {
        return None;
    };
    Some(Ticks {
        all: numbers.iter().fold(0, |sum, one| sum.saturating_add(*one)),
        idle: idle.saturating_add(iowait),
        steal,
    })
}

/// Options of a SYN that this kernel sends unless its setting is 0.
const SETTINGS: [(&str, &str); 4] = [
    ("sack-permitted", "net/ipv4/tcp_sack"),
    ("timestamps", "net/ipv4/tcp_timestamps"),
    ("window-scale", "net/ipv4/tcp_window_scaling"),
    ("mp-capable", "net/mptcp/enabled"),
];

/// Options that this kernel sends in the SYN of MPTCP, by its settings. Another network namespace
/// than the first one lacks some of them.
pub(crate) fn sent_options() -> Vec<&'static str> {
    let is_on = |setting: &str| {
        let value = line(&format!("/proc/sys/{setting}"));
        !value.is_empty() && value != "0"
    };
    let known = SETTINGS.iter().filter(|(_, setting)| is_on(setting));
    let names = known.map(|(name, _)| *name);
    ["mss"].into_iter().chain(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn watch() -> Watch {
        Watch {
            first: Ticks::default(),
            last: Ticks::default(),
            last_time: Duration::ZERO,
            waited: Duration::ZERO,
            starved: false,
        }
    }

    fn is_starved(all: u64, idle: u64, steal: u64) -> bool {
        let mut watch = watch();
        watch.add(Ticks { all, idle, steal }, SECOND, Duration::ZERO);
        watch.starved
    }

    #[test]
    fn ticks_are_those_of_all_processors() {
        let text = "cpu  10 20 30 400 5 6 7 8 9 1\ncpu0 1 2 3 4 5 6 7 8 9 1\n";
        let ticks = parse(text).unwrap();
        assert_eq!((ticks.all, ticks.idle, ticks.steal), (486, 405, 8));
        assert_eq!(parse("cpu 1 2 3"), None);
        assert_eq!(parse(""), None);
        assert!(super::ticks().all > 0);
    }

    #[test]
    fn a_step_with_too_little_of_a_processor_is_told() {
        assert!(!is_starved(100, 50, 0) && !is_starved(100, 10, 0));
        assert!(is_starved(100, 9, 0) && is_starved(100, 80, 11));
        // Too short to tell.
        assert!(!is_starved(5, 0, 5));
        let mut watch = watch();
        for all in [3, 6, 9, 12] {
            let now = Ticks {
                all,
                ..Ticks::default()
            };
            watch.add(now, SECOND, Duration::ZERO);
        }
        assert!(watch.starved);
    }

    #[test]
    fn a_thread_that_waited_for_a_processor_of_a_host_with_others_is_told() {
        let is_starved = |step_ms: u64, waits_ms: &[u64]| {
            let mut watch = watch();
            for (number, wait_ms) in (1..).zip(waits_ms) {
                let time = Duration::from_millis(step_ms * number);
                watch.add(Ticks::default(), time, Duration::from_millis(*wait_ms));
            }
            watch.starved
        };
        assert!(!is_starved(1_000, &[100, 100]) && is_starved(1_000, &[0, 101, 0]));
        // Short steps tell together.
        assert!(!is_starved(60, &[12]) && !is_starved(60, &[12, 0]) && is_starved(60, &[12, 1]));
    }

    #[test]
    fn this_host_has_a_kernel_and_a_boot() {
        assert!(!kernel().is_empty() && boot_id().len() == 36);
        assert_eq!(sent_options()[0], "mss");
        assert!(Watch::begin().host().processors > 0);
    }
}
