//! `target`: the end against which `mptcplab probe` measures.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use mptcplab_measure::target::{Config, Identity, Target};
use mptcplab_measure::token::Token;

use crate::file_option::path_parser;
use crate::output;
use crate::signals::stop_event;
use crate::size::parse_size;
use crate::units::size;

/// The port of control channels; that for data is the next one.
const PORT: u16 = 4420;
const MEGABIT_BPS: f64 = 1e6;

/// The options of `target`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Where it listens for probes: 192.0.2.1:4420, say.
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 0], PORT)))]
    listen: SocketAddr,
    /// The port for data, at the same address; the next one unless given.
    #[arg(long, value_name = "PORT")]
    data_port: Option<u16>,
    /// Keep the certificate and the tokens in this folder; else they are new each time.
    #[arg(long, value_name = "FOLDER", value_parser = path_parser())]
    state: Option<PathBuf>,
    /// Tokens to give out at least, each with a volume of its own; those of --state stay.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1000))]
    tokens: u16,
    /// Take back a token that the folder of --state keeps; may be repeated.
    #[arg(long, value_name = "TOKEN", requires = "state", value_parser = Token::parse)]
    revoke: Vec<Token>,
    /// The greatest rate of an experiment, in Mbit/s.
    #[arg(long, value_name = "MBIT/S", value_parser = parse_rate)]
    rate_limit: Option<u64>,
    /// The data that each token may move within a day: 2 GB, say.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    volume_limit: Option<u64>,
}

/// Prints the tokens, a line each, and serves their holders until SIGINT or SIGTERM.
///
/// # Errors
/// Addresses that cannot be bound, and a folder that cannot be used.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let identity = match &options.state {
        Some(folder) => Identity::kept(folder, options.tokens.into(), &options.revoke)?,
        None => Identity::new(options.tokens.into())?,
    };
    let stop = stop_event(|| std::process::exit(1))?;
    let target = Target::bind(&config(options)?, &identity)?;
    // Only one that serves has the folder.
    if let Some(folder) = &options.state {
        identity.keep(folder)?;
    }
    let lines: Vec<_> = identity.tokens.iter().map(Token::text).collect();
    output::print(&(lines.join("\n") + "\n"))?;
    output::report(&told(options, &target)?);
    target.run(&stop).context("the target")
}

fn config(options: &Options) -> anyhow::Result<Config> {
    let next = options.listen.port().checked_add(1);
    let Some(data_port) = options.data_port.or(next) else {
        bail!(
            "--listen {}: there is no next port: give --data-port",
            options.listen
        );
    };
    let is_same = data_port == options.listen.port() && data_port != 0;
    if is_same {
        bail!("--data-port {data_port}: it is that of --listen: give another one");
    }
    Ok(Config {
        listen: options.listen,
        data_port,
        rate_limit_bps: options.rate_limit,
        volume_limit_bytes: options.volume_limit,
    })
}

/// Where it listens, and its limits.
fn told(options: &Options, target: &Target) -> anyhow::Result<String> {
    let address = target.address()?;
    let data_port = target.data_port();
    let mut text = format!("at {address}, data at port {data_port}");
    if let Some(volume) = options.volume_limit {
        text += &format!(", {} a day for each token", size(volume));
    }
    Ok(text + "; Ctrl-C ends it")
}

/// Bits a second of a rate in Mbit/s.
fn parse_rate(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.01..=1e6).contains(&rate) => Ok((rate * MEGABIT_BPS) as u64),
        _ => Err("a number from 0.01 to 1000000 is wanted, 50 say".to_owned()),
    }
}
