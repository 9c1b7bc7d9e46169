//! `agent`: carries out a server's plans, and sends it the results.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use mptcplab_agent::caps::Caps;
use mptcplab_agent::enrolment::Enrolment;
use mptcplab_agent::{Config, hold_until_end_of_input, parse_endpoint};
use nix::sys::signal::{SigSet, Signal};

use crate::file_option::{path_parser, read_text};
use crate::output;
use crate::signals::stop_event;
use crate::size::parse_size;

/// The variable that has a token, too.
const TOKEN_VARIABLE: &str = "MPTCPLAB_ENROL";
/// This program, also where its file has been replaced.
const OURSELVES: &str = "/proc/self/exe";
const HOLD: &str = "hold-endpoints";
const MOST_TOKEN_BYTES: u64 = 64 << 10;
const UNITS: [(&str, u64); 4] = [("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400)];

/// The options of `agent`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The token of a server that takes this agent in, at its first start; MPTCPLAB_ENROL has it, too.
    #[arg(long, value_name = "TOKEN", conflicts_with = "enrol_file")]
    enrol: Option<String>,
    /// The same from the first line of a file.
    #[arg(long, value_name = "FILE", value_parser = path_parser())]
    enrol_file: Option<PathBuf>,
    /// The agent's name at the server; this host's unless given.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The folder that keeps who it is, and its results until they are sent.
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/mptcplab-agent", value_parser = path_parser())]
    state: PathBuf,
    /// Results that wait to be sent, at most: the oldest go first.
    #[arg(long, value_name = "SIZE", default_value = "100MB", value_parser = parse_size)]
    spool_size: u64,
    /// The same by age: 30d, 12h.
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = parse_time)]
    spool_age: Duration,
    /// Time between two contacts with the server, at most: 5min, 30s.
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = parse_time)]
    contact_interval: Duration,
    /// Carry out each plan once now, send all, and exit.
    #[arg(long)]
    once: bool,
    /// Add no endpoints to the kernel's path manager while an experiment lasts.
    #[arg(long)]
    leave_endpoints: bool,
}

/// Carries out plans until SIGINT or SIGTERM.
///
/// # Errors
/// A folder that cannot be used, an enrolment that is wanted or refused, and with `--once` what could
/// not be sent.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let enrolment = enrolment(options)?;
    let name = match &options.name {
        Some(name) => name.clone(),
        None => host_name(),
    };
    if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
        bail!("--name: 1 to 100 letters are wanted");
    }
    let stop = stop_event(|| std::process::exit(1))?;
    let hold = [OURSELVES, HOLD].map(OsString::from).to_vec();
    let config = Config {
        folder: options.state.clone(),
        enrolment,
        name,
        caps: Caps {
            size_bytes: options.spool_size,
            age: options.spool_age,
        },
        contact_interval: options.contact_interval,
        is_once: options.once,
        hold: (!options.leave_endpoints).then_some(hold),
        log: output::report,
    };
    mptcplab_agent::run(&config, stop)?;
    Ok(())
}

/// The token, by option, file or variable; an empty variable is none.
fn enrolment(options: &Options) -> anyhow::Result<Option<Enrolment>> {
    if let Some(token) = &options.enrol {
        return parsed("--enrol", token).map(Some);
    }
    if let Some(file) = &options.enrol_file {
        let place = format!("--enrol-file {}", file.display());
        let text = read_text(file, MOST_TOKEN_BYTES).with_context(|| place.clone())?;
        return parsed(&place, text.lines().next().unwrap_or_default()).map(Some);
    }
    match env::var(TOKEN_VARIABLE) {
        Ok(token) if !token.trim().is_empty() => parsed(TOKEN_VARIABLE, &token).map(Some),
        _ => Ok(None),
    }
}

fn parsed(place: &str, token: &str) -> anyhow::Result<Enrolment> {
    Enrolment::parse(token).map_err(|error| anyhow!("{place}: {error}"))
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    name.unwrap_or_default().trim().to_owned()
}

/// A time such as `30d` or `1.5h`.
fn parse_time(text: &str) -> anyhow::Result<Duration> {
    let wrong = || anyhow!("a time from 1s to 3650d is wanted, in s, min, h or d: 12h, say");
    let unit_begins = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = text.split_at(unit_begins.unwrap_or(text.len()));
    let known = UNITS.iter().find(|(name, _)| *name == unit.trim());
    let (_, factor) = known.ok_or_else(wrong)?;
    let seconds = number.parse::<f64>().map_err(|_| wrong())? * *factor as f64;
    match (1.0..=3_650.0 * 86_400.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(wrong()),
    }
}

/// The options of `hold-endpoints`.
#[derive(Args, Debug)]
pub(crate) struct HoldOptions {
    /// The place to which no other endpoint is used: 192.0.2.9:4421.
    #[arg(value_name = "ADDRESS:PORT")]
    target: SocketAddr,
    /// Addresses, and numbers of interfaces to bind to or 0: 192.0.2.1%0.
    #[arg(value_name = "ADDRESS%INDEX")]
    endpoints: Vec<String>,
}

/// Has endpoints of the path manager until the end of standard input.
///
/// # Errors
/// Endpoints that are none, and the kernel's.
pub(crate) fn hold(options: &HoldOptions) -> anyhow::Result<()> {
    let wanted: Option<Vec<_>> = options
        .endpoints
        .iter()
        .map(|text| parse_endpoint(text))
        .collect();
    let wanted = wanted.ok_or_else(|| anyhow!("write ADDRESS%INDEX: 192.0.2.1%0"))?;
    // Both are for the agent, whose end this waits for.
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]).thread_block()?;
    Ok(hold_until_end_of_input(options.target, &wanted)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [
            ("30d", 2_592_000),
            ("5min", 300),
            ("1.5h", 5_400),
            ("2 s", 2),
        ] {
            assert_eq!(
                parse_time(text).unwrap(),
                Duration::from_secs(seconds),
                "{text}"
            );
        }
        for text in ["", "30", "d", "0s", "-1s", "1e9d", "9999d", "1.2.3s", "5m"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
