//! `path-manager`: opens and closes the subflows of this host's connections.

mod config;

use std::io;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::userspace_pm::UserspacePm;
use mptcplab_path_manager::{Command, Daemon};
use serde::Serialize;

use crate::output;
use crate::signals::stop_event;

/// The options of `path-manager`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Subflows of connections opened here: several on one pair of addresses, one from each address to each of the peer's, or one over the first interface that works.
    #[arg(value_enum)]
    paths: PathsOption,
    /// Of ndiffports, the initial one included; 2 unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    subflows: Option<u32>,
    /// Of handover, first to last; others come after these, as the kernel lists them.
    #[arg(long, value_name = "IFACE")]
    prefer: Vec<String>,
    /// Announce this host's other addresses.
    #[arg(long)]
    signal: bool,
    /// Open again what has failed or closed.
    #[arg(long)]
    refresh: bool,
    /// The most subflows of a connection.
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=255))]
    most: u32,
    /// So many subflows only once a connection has carried this: 100kB=2; repeat.
    #[arg(long, value_name = "SIZE=SUBFLOWS")]
    after: Vec<String>,
    /// Of fullmesh: subflows of IFACE are backups; repeat for more.
    #[arg(long, value_name = "IFACE")]
    backup: Vec<String>,
    /// Leave net.mptcp.path_manager as it is.
    #[arg(long)]
    leave_setting: bool,
    /// Print each command as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// The subflows that a path manager opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PathsOption {
    None,
    Ndiffports,
    Fullmesh,
    Handover,
}

/// A command with its result.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    command: &'a Command,
    /// The kernel's reason, where it refused.
    refused: Option<String>,
}

/// Works until SIGINT or SIGTERM.
///
/// # Errors
/// Options that contradict each other, a kernel that refuses, and those of standard output.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let config = config::config(options)?;
    // The setting is to be given back, whatever comes.
    let stop = stop_event(|| {})?;
    warn_of_absent_interfaces(options)?;
    let mut daemon = Daemon::open(config).map_err(refused)?;
    let _selected = match options.leave_setting {
        true => None,
        false => Some(UserspacePm::select().map_err(refused)?),
    };
    output::report("at work; Ctrl-C ends it");
    let mut printed = Ok(());
    daemon
        .run(&stop, |command, done| {
            let refused = done.err().map(|error| error.to_string());
            if let (Ok(()), Err(error)) = (&printed, print(command, refused, options.json)) {
                printed = Err(error);
                // A write fails only where the counter is full, and then it is stopped already.
                let _ = stop.write(1);
            }
        })
        .map_err(refused)?;
    printed
}

/// They may come later: a modem, say.
fn warn_of_absent_interfaces(options: &Options) -> io::Result<()> {
    let known = Interfaces::open()?.interfaces()?;
    for (option, names) in [("--prefer", &options.prefer), ("--backup", &options.backup)] {
        for name in names {
            // Alternative names are not what the path manager compares.
            if !known.iter().any(|interface| interface.name == *name) {
                output::report(&format!("{option} {name}: there is no such interface now"));
            }
        }
    }
    Ok(())
}

fn print(command: &Command, refused: Option<String>, json: bool) -> anyhow::Result<()> {
    match json {
        true => output::print_json(&Report { command, refused }),
        false => output::print(&line(command, refused.as_deref())),
    }
}

/// A command as people read it: token, what, from where and to where.
fn line(command: &Command, refused: Option<&str>) -> String {
    let (token, what, subject) = match command {
        Command::Open {
            token,
            local,
            remote,
            ..
        } => (token, "open", format!("{local} to {remote}")),
        Command::Close {
            token,
            local,
            remote,
        } => (token, "close", format!("{local} to {remote}")),
        Command::Announce { token, address } => (token, "announce", address.to_string()),
        Command::Withdraw { token, address } => (token, "withdraw", address.to_string()),
    };
    let end = refused.map_or_else(String::new, |reason| format!(": refused: {reason}"));
    format!("{token:08x} {what} {subject}{end}\n")
}

fn refused(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            anyhow!("it needs CAP_NET_ADMIN: run it as root, or in a user namespace of your own")
        }
        _ => error.into(),
    }
}
