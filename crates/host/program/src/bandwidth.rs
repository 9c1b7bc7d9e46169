//! `bandwidth`: what each interface sends and receives, to the terminal and to a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use mptcplab_linux::interfaces::{Counters, Interfaces};
use serde::Serialize;

use crate::file_option::path_parser;
use crate::output;
use crate::ticks::{Ticks, parse_seconds, wall_clock_seconds};
use crate::units::rate;

/// The options of `bandwidth`.
#[derive(Args)]
pub(crate) struct Options {
    /// Distance between two readings.
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = parse_seconds)]
    interval: Duration,
    /// Stop after so many intervals.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Only this interface; repeat for more. Every one but the loopback unless given.
    #[arg(short = 'I', long = "interface", value_name = "IFACE")]
    interfaces: Vec<String>,
    /// Write each interval's rows to this file as well, as CSV.
    #[arg(long, value_name = "FILE", value_parser = path_parser())]
    out: Option<PathBuf>,
    /// Print each row as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// The bytes and rates of an interface in one interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Row {
    /// Seconds since 1970 of the system's clock, at the interval's end.
    time_s: f64,
    /// Length of the interval.
    interval_s: f64,
    interface: String,
    sent_bytes: u64,
    received_bytes: u64,
    sent_bps: f64,
    received_bps: f64,
}

const CSV_HEADING: &str =
    "time_s,interval_s,interface,sent_bytes,received_bytes,sent_bps,received_bps\n";

/// The counters of all wanted interfaces at one moment.
struct Reading {
    at: Instant,
    counters: BTreeMap<String, Counters>,
}

/// Logs until Ctrl-C or the wanted number of intervals.
///
/// # Errors
/// An interface that is not there, the kernel's, and those of the file and of standard output.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut netlink = Interfaces::open().context("the kernel does not list its interfaces")?;
    refuse_absent(&mut netlink, options)?;
    let mut before = reading(&mut netlink, options)?;
    let mut log = options.out.as_deref().map(Log::create).transpose()?;
    // The first moment is the beginning of the first interval.
    let mut ticks = Ticks::start(
        options.interval,
        options.count.map(|count| count.saturating_add(1)),
    )?;
    ticks.wait()?;
    while ticks.wait()? {
        let after = reading(&mut netlink, options)?;
        let rows = rows(&before, &after, wall_clock_seconds());
        if let Some(log) = &mut log {
            log.write(&rows.iter().map(Row::csv).collect::<String>())?;
        }
        show(&rows, options.json)?;
        before = after;
    }
    Ok(())
}

/// The file of rows; errors name it.
struct Log<'a> {
    file: File,
    path: &'a Path,
}

impl<'a> Log<'a> {
    fn create(path: &'a Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| path.display().to_string())?;
        let mut log = Self { file, path };
        log.write(CSV_HEADING)?;
        Ok(log)
    }

    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let written = self.file.write_all(text.as_bytes());
        written.with_context(|| self.path.display().to_string())
    }
}

fn show(rows: &[Row], json: bool) -> anyhow::Result<()> {
    if json {
        return rows.iter().try_for_each(output::print_json);
    }
    output::print(&rows.iter().map(Row::line).collect::<String>())
}

fn reading(netlink: &mut Interfaces, options: &Options) -> io::Result<Reading> {
    let at = Instant::now();
    let listed = netlink.counters()?;
    let wanted = listed
        .into_iter()
        .filter(|(interface, _)| match options.interfaces.as_slice() {
            [] => !interface.is_loopback,
            names => names.iter().any(|name| interface.is_called(name)),
        });
    let counters = wanted
        .map(|(interface, counters)| (interface.name, counters))
        .collect();
    Ok(Reading { at, counters })
}

/// Each name must be one of an interface, an alternative name included.
fn refuse_absent(netlink: &mut Interfaces, options: &Options) -> anyhow::Result<()> {
    let known = netlink.interfaces()?;
    for name in &options.interfaces {
        if !known.iter().any(|interface| interface.is_called(name)) {
            bail!("-I {name}: there is no such interface; `ip link` lists them");
        }
    }
    Ok(())
}

/// The differences of two readings. An interface that came in between is shown from the next
/// interval on; counters that fell, as those of an interface made anew do, began at zero.
fn rows(before: &Reading, after: &Reading, time_s: f64) -> Vec<Row> {
    let interval_s = after.at.duration_since(before.at).as_secs_f64();
    let both = after.counters.iter().filter_map(|(name, after)| {
        let before = before.counters.get(name)?;
        let since = |now: u64, then: u64| now.checked_sub(then).unwrap_or(now);
        let sent_bytes = since(after.sent_bytes, before.sent_bytes);
        let received_bytes = since(after.received_bytes, before.received_bytes);
        let bps = |bytes: u64| (bytes as f64 * 8.0 / interval_s).round();
        Some(Row {
            time_s,
            interval_s: (interval_s * 1e6).round() / 1e6,
            interface: name.clone(),
            sent_bytes,
            received_bytes,
            sent_bps: bps(sent_bytes),
            received_bps: bps(received_bytes),
        })
    });
    both.collect()
}

impl Row {
    fn csv(&self) -> String {
        // A name of an interface may have a comma or a quote in it (`dev_valid_name` of Linux).
        let name = match self.interface.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", self.interface.replace('"', "\"\"")),
            false => self.interface.clone(),
        };
        format!(
            "{:.6},{:.6},{name},{},{},{},{}\n",
            self.time_s,
            self.interval_s,
            self.sent_bytes,
            self.received_bytes,
            self.sent_bps,
            self.received_bps,
        )
    }

    fn line(&self) -> String {
        let name = output::printable(&self.interface);
        format!(
            "{:.1}  {name:15}  sent {:>12}  received {:>12}\n",
            self.time_s,
            rate(self.sent_bps),
            rate(self.received_bps),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at: Instant, interfaces: &[(&str, u64, u64)]) -> Reading {
        let counters = interfaces
            .iter()
            .map(|&(name, sent_bytes, received_bytes)| {
                let counters = Counters {
                    sent_bytes,
                    received_bytes,
                    ..Counters::default()
                };
                (name.to_owned(), counters)
            });
        Reading {
            at,
            counters: counters.collect(),
        }
    }

    #[test]
    fn a_row_is_the_difference_of_two_readings() {
        let start = Instant::now();
        let before = reading(
            start,
            &[("eth0", 1000, 500), ("gone", 1, 1), ("anew", 900, 900)],
        );
        let end = start + Duration::from_millis(500);
        let after = reading(
            end,
            &[("eth0", 3000, 500), ("anew", 100, 950), ("new", 7, 7)],
        );
        let rows = rows(&before, &after, 12.0);
        let told: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.interface.as_str(),
                    row.sent_bytes,
                    row.received_bytes,
                    row.sent_bps,
                )
            })
            .collect();
        assert_eq!(
            told,
            [("anew", 100, 50, 1600.0), ("eth0", 2000, 0, 32000.0)]
        );
        assert_eq!(rows[1].csv(), "12.000000,0.500000,eth0,2000,0,32000,0\n");
    }

    #[test]
    fn names_are_quoted_in_csv_and_printable_on_a_terminal() {
        let row = Row {
            time_s: 0.0,
            interval_s: 1.0,
            interface: "a,\"\x1b[".to_owned(),
            sent_bytes: 0,
            received_bytes: 0,
            sent_bps: 0.0,
            received_bps: 0.0,
        };
        assert!(row.csv().contains("\"a,\"\"\x1b[\""));
        assert!(!row.line().contains('\x1b'));
    }
}
