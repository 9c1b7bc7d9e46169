//! `nc`: standard input and output at the ends of a connection whose subflows one can steer.

mod config;
mod ends;
mod subflows;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use mptcplab_netcat::{Family, Options as Request, Protocol};

use crate::file_option::path_parser;

/// Longest time that can be given; its milliseconds fit all that reckons with them.
const MOST_SECONDS: f64 = 1e9;

/// The options of `nc`.
#[derive(Args, Debug, Default)]
pub(crate) struct Options {
    /// Host and port; the ports of a scan may be ranges: 20-30.
    #[arg(value_name = "HOST PORT")]
    words: Vec<String>,
    /// Listen at PORT, on every address unless HOST is one.
    #[arg(short = 'l')]
    listen: bool,
    /// Listen at PORT, or connect from it.
    #[arg(short = 'p', value_name = "PORT")]
    port: Option<String>,
    /// IPv4 only.
    #[arg(short = '4')]
    ipv4: bool,
    /// IPv6 only.
    #[arg(short = '6')]
    ipv6: bool,
    /// TCP instead of MPTCP.
    #[arg(long)]
    tcp: bool,
    /// UDP.
    #[arg(short = 'u')]
    udp: bool,
    /// With -l: listen again after a client.
    #[arg(short = 'k')]
    keep: bool,
    /// Connect, print which ports are open, send nothing.
    #[arg(short = 'z')]
    scan: bool,
    /// Give up after SECONDS without a connection, or without data.
    #[arg(short = 'w', value_name = "SECONDS", allow_negative_numbers = true)]
    wait: Option<f64>,
    /// Print on stderr what happens.
    #[arg(short = 'v')]
    verbose: bool,
    /// After EOF on stdin, shut down the sending side (half-close).
    #[arg(short = 'N')]
    half_close: bool,
    /// After EOF on stdin, shut down the sending side, wait SECONDS, then quit; -1: as without -q.
    #[arg(short = 'q', value_name = "SECONDS", allow_negative_numbers = true)]
    quit_after: Option<f64>,
    /// Do not read stdin.
    #[arg(short = 'd')]
    no_input: bool,
    /// Do not look up host names.
    #[arg(short = 'n')]
    numeric: bool,
    /// Connect from ADDRESS, or listen at it.
    #[arg(short = 's', value_name = "ADDRESS")]
    source: Option<String>,
    #[command(flatten)]
    subflows: SubflowOptions,
    /// Print the account of the transfer on stderr as JSON.
    #[arg(long)]
    json: bool,
    /// Write the account of the transfer to FILE as JSON.
    #[arg(long, value_name = "FILE", value_parser = path_parser())]
    json_file: Option<PathBuf>,
}

/// The options about subflows.
#[derive(Args, Debug, Default)]
struct SubflowOptions {
    /// Add a subflow from every other address that has its own route to the peer.
    #[arg(short = 'a')]
    every: bool,
    /// Add a subflow from what the configuration calls wifi.
    #[arg(short = 'W')]
    wifi: bool,
    /// Add a subflow from what the configuration calls cellular.
    #[arg(short = 'C')]
    cellular: bool,
    /// Add a subflow over IFACE; repeat for more.
    #[arg(short = 'I', value_name = "IFACE")]
    interfaces: Vec<String>,
    /// Add a backup subflow over IFACE, used if no other works; repeat for more.
    #[arg(long = "backup", value_name = "IFACE")]
    backups: Vec<String>,
    /// Open subflows once, or (pivot) follow their interfaces as they come and go.
    #[arg(long, value_enum, default_value_t)]
    policy: Policy,
    /// Read FILE instead of ~/.config/mptcplab/nc.yaml.
    #[arg(long, value_name = "FILE", value_parser = path_parser())]
    config: Option<PathBuf>,
}

/// How subflows are kept while a connection lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Policy {
    #[default]
    Once,
    Pivot,
}

/// Carries the connection; gives netcat's exit status.
///
/// # Errors
/// Options that contradict each other, or of which one means nothing.
pub(crate) fn run(options: &Options) -> anyhow::Result<i32> {
    Ok(mptcplab_netcat::run(&request(options)?))
}

/// The options as netcat takes them.
fn request(options: &Options) -> anyhow::Result<Request> {
    refuse_contradictions(options)?;
    let ends = ends::read(options)?;
    let quit_after_ms = quit_after_ms(options.quit_after)?;
    Ok(Request {
        protocol: match (options.udp, options.tcp) {
            (true, _) => Protocol::Udp,
            (false, true) => Protocol::Tcp,
            (false, false) => Protocol::Mptcp,
        },
        host: ends.host,
        ports: ends.ports,
        listen: options.listen,
        keep: options.keep,
        scan: options.scan,
        family: match (options.ipv4, options.ipv6) {
            (true, _) => Some(Family::V4),
            (false, true) => Some(Family::V6),
            (false, false) => None,
        },
        source: ends.source,
        source_port: ends.source_port,
        timeout_ms: timeout_ms(options.wait)?,
        verbose: options.verbose,
        reads_input: !options.no_input,
        // As the netcat of Debian: -q with a time tells the peer of the end.
        half_close: options.half_close || quit_after_ms.is_some(),
        quit_after_ms,
        subflows: subflows::wanted(&options.subflows)?,
        json: options.json,
        json_file: options.json_file.clone(),
    })
}

fn refuse_contradictions(options: &Options) -> anyhow::Result<()> {
    let subflows = options.subflows.are_given();
    let contradictions = [
        (options.ipv4 && options.ipv6, "-4 and -6: one of them"),
        (options.tcp && options.udp, "--tcp and -u: one of them"),
        (options.listen && options.scan, "-l and -z: one of them"),
        (
            subflows && options.listen,
            "-l: the client opens the subflows",
        ),
        (
            subflows && (options.tcp || options.udp),
            "subflows: MPTCP only",
        ),
        (subflows && options.scan, "subflows: not of a scan"),
        (options.keep && !options.listen, "-k: it needs -l"),
    ];
    for (contradicted, text) in contradictions {
        if contradicted {
            bail!(text);
        }
    }
    Ok(())
}

impl SubflowOptions {
    /// Whether a subflow is asked for at all.
    fn are_given(&self) -> bool {
        self.every || self.names_any() || self.policy != Policy::Once
    }

    /// Whether one is asked for by the name of its interface.
    fn names_any(&self) -> bool {
        self.wifi || self.cellular || !self.interfaces.is_empty() || !self.backups.is_empty()
    }
}

/// `None` for ever, as a negative time says.
fn quit_after_ms(seconds: Option<f64>) -> anyhow::Result<Option<u64>> {
    match seconds {
        Some(seconds) if seconds.is_nan() || seconds > MOST_SECONDS => {
            bail!("-q {}: seconds, or -1 for no end", shown(seconds))
        }
        Some(seconds) if seconds >= 0.0 => Ok(Some((seconds * 1e3).round() as u64)),
        _ => Ok(None),
    }
}

fn timeout_ms(seconds: Option<f64>) -> anyhow::Result<Option<u64>> {
    match seconds {
        None => Ok(None),
        Some(seconds) if seconds > 0.0 && seconds <= MOST_SECONDS => {
            Ok(Some(((seconds * 1e3).round() as u64).max(1)))
        }
        Some(seconds) => bail!("-w {}: seconds, more than 0", shown(seconds)),
    }
}

/// As the user may have written it.
fn shown(seconds: f64) -> String {
    seconds.to_string().to_lowercase()
}
