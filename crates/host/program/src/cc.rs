//! `cc`: congestion controls that BPF brings to this machine's kernel.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand};
use mptcplab_bpf::{Control, Error, State};
use serde::Serialize;

use crate::file_option::read_bytes;
use crate::output;

const LARGEST_OBJECT_BYTES: u64 = 16 << 20;
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The commands of `cc`.
#[derive(Debug, Subcommand)]
pub(crate) enum Options {
    /// Load one for all of the machine, until it is unloaded or the machine stops.
    Load {
        /// lia, olia, balia or wvegas; or a compiled BPF object: a path with `/` or `.o`.
        #[arg(value_name = "NAME|FILE")]
        name: String,
    },
    /// Unload one; connections that have it keep it.
    Unload {
        /// As `cc list` shows it.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// List those that there are, and whether they are loaded.
    List(ListOptions),
}

/// The options of `cc list`.
#[derive(Args, Debug)]
pub(crate) struct ListOptions {
    /// Print JSON for programs.
    #[arg(long)]
    json: bool,
}

/// A congestion control that there is.
#[derive(Serialize)]
struct Row {
    name: String,
    state: &'static str,
}

/// Loads, unloads or lists.
///
/// # Errors
/// A name or file that is none, and what BPF refuses.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    match options {
        Options::Load { name } if name.contains('/') || name.ends_with(".o") => load_object(name),
        Options::Load { name } => {
            let Some(control) = Control::from_name(name) else {
                let names = Control::ALL.map(Control::name).join(", ");
                bail!("no coupled congestion control '{name}': {names}");
            };
            Ok(control.load()?)
        }
        Options::Unload { name } => Ok(mptcplab_bpf::unload(name)?),
        Options::List(options) => list(options),
    }
}

fn load_object(name: &str) -> anyhow::Result<()> {
    let object = read_bytes(&PathBuf::from(name), LARGEST_OBJECT_BYTES);
    let object = object.with_context(|| name.to_owned())?;
    let loaded = mptcplab_bpf::load_object(&object).map_err(|error| {
        let mut text = format!("{name}: {error}");
        for line in error.details() {
            text.push_str("\n  ");
            text.push_str(line);
        }
        anyhow!(text)
    })?;
    let lines: Vec<_> = loaded.iter().map(|name| line(name, "loaded", 0)).collect();
    output::print(&lines.concat())
}

fn list(options: &ListOptions) -> anyhow::Result<()> {
    let rows = rows()?;
    if options.json {
        return output::print(&(serde_json::to_string_pretty(&rows)? + "\n"));
    }
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let lines: Vec<_> = rows
        .iter()
        .map(|row| line(&row.name, row.state, width))
        .collect();
    output::print(&lines.concat())
}

/// The coupled ones, what else BPF has registered, what else the kernel has.
fn rows() -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for control in Control::ALL {
        let state = match control.state()? {
            State::Absent => "absent",
            State::Loaded => "loaded",
            State::Held => "held",
            State::Present => "present",
        };
        rows.push(Row {
            name: control.name().to_owned(),
            state,
        });
    }
    let mut known: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).collect();
    // Only root is told; the names of congestion controls are in the kernel's list as well.
    let mut registered = mptcplab_bpf::registered().unwrap_or_default();
    registered.sort_by(|one, other| one.name.cmp(&other.name));
    let registered = registered.into_iter().map(|one| {
        let state = if one.is_held { "process" } else { "loaded" };
        (one.name, state)
    });
    let available = fs::read_to_string(AVAILABLE).unwrap_or_default();
    let available = available
        .split_whitespace()
        .map(|name| (name.to_owned(), "kernel"));
    for (name, state) in registered.chain(available) {
        if known.insert(name.clone()) {
            rows.push(Row { name, state });
        }
    }
    Ok(rows)
}

fn line(name: &str, state: &str, width: usize) -> String {
    let meaning = match state {
        "absent" => "not loaded; runs that ask for it load it themselves".to_owned(),
        "loaded" => format!("loaded, until `mptcplab cc unload {name}`"),
        "held" => "loaded by a run that is under way".to_owned(),
        "present" => "there, loaded by others".to_owned(),
        "process" => "loaded by a process that holds it".to_owned(),
        _ => "there, of this kernel".to_owned(),
    };
    format!("{name:width$}  {meaning}\n")
}
