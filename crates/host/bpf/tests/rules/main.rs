//! The fixed-point arithmetic of the controls against the formulas, over the whole range of windows
//! and round trips. The same code runs in the kernel; here it is compiled for this machine.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::os::unix::{Library, Symbol};
use proptest::prelude::*;

const ONE: f64 = 4_294_967_296.0;
const MOST_PATHS: usize = 16;

/// `struct path` of the programs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Row {
    socket: u64,
    window_bytes: u64,
    rtt_us: u64,
    segments: u64,
    since_loss: u64,
    between_losses: u64,
}

impl Row {
    fn rate(&self) -> f64 {
        self.window_bytes as f64 / self.rtt_us as f64
    }

    /// OLIA's l²/rtt, as coarse as it is kept.
    fn quality(&self) -> u64 {
        let between = self.since_loss.max(self.between_losses) >> 6;
        let between = between.min(u64::from(u32::MAX));
        between * between / self.rtt_us
    }
}

type Increase = unsafe extern "C" fn(*const Row, u32, u32, u32) -> i64;
type EndOfRound = unsafe extern "C" fn(u32, u32, u32, bool, *mut u32) -> u32;

/// The library of a program; none where there is no compiler.
fn library(program: &str) -> Option<Library> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiler = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let object = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{program}.so"));
    let mut command = Command::new(compiler);
    command
        .args(["-shared", "-fPIC", "-O1", "-w", "-fsanitize=undefined"])
        .arg("-fsanitize-undefined-trap-on-error")
        .arg(format!("-DRULE=\"{program}.bpf.c\""))
        .arg("-I")
        .arg(crate_folder.join("programs"))
        .arg(crate_folder.join("tests/rules/rule.c"))
        .arg("-o")
        .arg(&object);
    if program == "wvegas" {
        command.arg("-DVEGAS");
    }
    match command.status() {
        Ok(status) => assert!(status.success(), "{program} does not compile"),
        Err(error) => {
            println!("skipped: no clang here: {error}");
            return None;
        }
    }
    // SAFETY: the library has no code that runs when it is loaded.
    Some(unsafe { Library::new(object) }.expect("it was just made"))
}

fn paths() -> impl Strategy<Value = (Vec<Row>, u32)> {
    let segments = prop_oneof![2_u64..100, 100_u64..20_000];
    let rtt_us = prop_oneof![20_u64..1000, 1000_u64..500_000];
    let bytes = prop_oneof![0_u64..1_000_000, 0_u64..1_000_000_000_000];
    let row = (segments, rtt_us, bytes.clone(), bytes);
    (prop::collection::vec(row, 1..=MOST_PATHS), 536_u32..9000).prop_map(|(rows, mss)| {
        let row = |(segments, rtt_us, since_loss, between_losses)| Row {
            socket: 1,
            window_bytes: segments * u64::from(mss),
            // They are kept odd.
            rtt_us: rtt_us | 1,
            segments,
            since_loss,
            between_losses,
        };
        (rows.into_iter().map(row).collect(), mss)
    })
}

/// Compares the increases of all paths with a formula, in segments.
fn compare(program: &str, formula: fn(&[Row], usize) -> f64) {
    let Some(library) = library(program) else {
        return;
    };
    // SAFETY: `rule.c` declares it so.
    let increase: Symbol<Increase> = unsafe { library.get(b"increase_of\0") }.unwrap();
    proptest!(|((rows, mss) in paths())| {
        for own in 0..rows.len() {
            let expected = formula(&rows, own);
            // SAFETY: as many rows as it says, at most sixteen, and one of them.
            let found = unsafe { increase(rows.as_ptr(), rows.len() as u32, own as u32, mss) };
            let found = found as f64 / ONE;
            // A thousandth, or what makes a segment in a million acknowledged ones.
            let tolerance = (expected.abs() * 1e-3).max(1e-6);
            prop_assert!((found - expected).abs() <= tolerance, "{found} for {expected}");
        }
    });
}

/// Segments of a row, for formulas that count windows in them.
fn windows(rows: &[Row]) -> Vec<f64> {
    rows.iter().map(|row| row.segments as f64).collect()
}

/// Σ w/rtt, in segments a microsecond.
fn total(rows: &[Row]) -> f64 {
    let of = |row: &Row| row.segments as f64 / row.rtt_us as f64;
    rows.iter().map(of).sum()
}

#[test]
fn lia_is_the_formula_of_rfc_6356() {
    compare("lia", |rows, own| {
        let quality = |row: &Row| row.segments as f64 / (row.rtt_us as f64).powi(2);
        let all: f64 = windows(rows).iter().sum();
        let best = rows.iter().map(quality).fold(0.0, f64::max);
        let alpha = all * best / total(rows).powi(2);
        (alpha / all).min(1.0 / rows[own].segments as f64)
    });
}

#[test]
fn olia_is_the_formula_of_the_paper() {
    compare("olia", |rows, own| {
        let best = rows.iter().map(Row::quality).max().unwrap();
        let most = rows.iter().map(|row| row.segments).max().unwrap();
        let is_best = |row: &Row| row.quality() == best;
        let is_largest = |row: &Row| row.segments == most;
        let collected = rows.iter().filter(|r| is_best(r) && !is_largest(r)).count();
        let largest = rows.iter().filter(|r| is_largest(r)).count();
        let path = &rows[own];
        let count = rows.len() as f64;
        let moved = match (collected, is_largest(path), is_best(path)) {
            (0, _, _) | (_, false, false) => 0.0,
            (_, true, _) => -1.0 / (count * largest as f64),
            (_, false, true) => 1.0 / (count * collected as f64),
        };
        let window = path.segments as f64;
        window / (path.rtt_us as f64).powi(2) / total(rows).powi(2) + moved / window
    });
}

#[test]
fn balia_is_the_formula_of_the_paper() {
    compare("balia", |rows, own| {
        let path = &rows[own];
        let most = rows.iter().map(Row::rate).fold(0.0, f64::max);
        let a = most / path.rate();
        let rate = path.segments as f64 / path.rtt_us as f64;
        let linked = rate / (path.rtt_us as f64 * total(rows).powi(2));
        linked * (1.0 + a) / 2.0 * (4.0 + a) / 5.0
    });
}

#[test]
fn wvegas_keeps_its_share_in_queues_and_drains_them() {
    const NEVER: u32 = u32::MAX;
    const SEGMENT: u32 = 1024;
    let Some(library) = library("wvegas") else {
        return;
    };
    // SAFETY: `rule.c` declares it so.
    let round: Symbol<EndOfRound> = unsafe { library.get(b"end_of_round\0") }.unwrap();
    let round = |window, base_us, rtt_us, is_limited, mut state: [u32; 2]| {
        // SAFETY: two numbers are read and written.
        let window = unsafe { round(window, base_us, rtt_us, is_limited, state.as_mut_ptr()) };
        (window, state)
    };
    let start = [2 * SEGMENT, NEVER];
    // 20 segments, 100 ms of which 5 are queueing: one segment in queues, fewer than two.
    assert_eq!(round(20, 95_000, 100_000, true, start), (21, [2048, 5000]));
    // Half a segment is no queue.
    assert_eq!(round(10, 95_000, 100_000, true, start), (11, [2048, 0]));
    // It does not grow where it does not limit.
    assert_eq!(round(20, 95_000, 100_000, false, start), (20, [2048, 5000]));
    // Ten in queues: the share of the only path is ten.
    assert_eq!(
        round(20, 50_000, 100_000, true, start),
        (20, [10_240, 50_000])
    );
    // 15.5 of 31: more than ten.
    assert_eq!(
        round(31, 50_000, 100_000, true, start),
        (30, [10_240, 50_000])
    );
    // Twice the least queueing delay: down to w base/(2 rtt), after the step of this round.
    let seen = [2 * SEGMENT, 5000];
    assert_eq!(round(21, 100_000, 110_000, true, seen), (10, [2048, NEVER]));
    // No queue at all is no least delay to double.
    let empty = [2 * SEGMENT, 0];
    assert_eq!(round(20, 100_000, 110_000, true, empty), (21, [2048, 0]));
}
