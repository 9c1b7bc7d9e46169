//! Options as shells, manuals and the documentation want them: the program's own and the laboratory's.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Arg, ArgAction, Args, Command};
use clap_complete::Shell;
use serde::Serialize;

use crate::file_option::path_parser;
use crate::{laboratory, output};

/// The options of `completion`.
#[derive(Args)]
pub(crate) struct CompletionOptions {
    /// The shell.
    shell: Shell,
    #[command(flatten)]
    of: Of,
}

/// The options of `man`.
#[derive(Args)]
pub(crate) struct ManOptions {
    /// Folder to write the pages into.
    #[arg(value_parser = path_parser())]
    folder: PathBuf,
    #[command(flatten)]
    of: Of,
}

/// Which program is described: this one, or the laboratory.
#[derive(Args)]
struct Of {
    /// Describe mptcplab, whose table of commands is standard input
    #[arg(long, hide = true)]
    laboratory: bool,
}

impl Of {
    fn program(&self, own: Command) -> anyhow::Result<Command> {
        match self.laboratory {
            true => laboratory::program(io::stdin().lock(), &own),
            false => Ok(own),
        }
    }
}

/// Prints the script that completes a program's options in a shell.
///
/// # Errors
/// Those of standard output and of the laboratory's table.
pub(crate) fn print_completion(options: &CompletionOptions, own: Command) -> anyhow::Result<()> {
    let mut program = options.of.program(own)?;
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut program, name, &mut script);
    output::print(&String::from_utf8(script)?)
}

/// Writes a page of the manual for a program and for each of its subcommands.
///
/// # Errors
/// Those of the folder and of the laboratory's table.
pub(crate) fn write_manual(options: &ManOptions, own: Command) -> anyhow::Result<()> {
    let program = options.of.program(own)?;
    let folder: &Path = &options.folder;
    let named = || folder.display().to_string();
    std::fs::create_dir_all(folder).with_context(named)?;
    clap_mangen::generate_to(program, folder).with_context(named)
}

/// A subcommand as `docs/reference.md` shows it.
#[derive(Serialize)]
struct Reference {
    name: String,
    usage: String,
    about: String,
    options: Vec<Row>,
}

/// An option or argument.
#[derive(Serialize)]
struct Row {
    name: String,
    meaning: String,
    default: Option<String>,
}

/// Prints the visible subcommands and their options as JSON.
///
/// # Errors
/// Those of standard output.
pub(crate) fn print_reference(mut program: Command) -> anyhow::Result<()> {
    program.build();
    output::print_json(&references("", &program))
}

/// The visible subcommands, and those of a subcommand in its place.
fn references(prefix: &str, program: &Command) -> Vec<Reference> {
    let shown = program.get_subcommands().filter(|one| !one.is_hide_set());
    let shown = shown.filter(|one| one.get_name() != "help");
    shown
        .flat_map(|command| {
            let name = format!("{prefix}{}", command.get_name());
            match command.has_subcommands() {
                true => references(&format!("{name} "), command),
                false => vec![reference(name, command)],
            }
        })
        .collect()
}

fn reference(name: String, command: &Command) -> Reference {
    let usage = command.clone().render_usage().to_string();
    let arguments = command.get_arguments().filter(|one| !one.is_hide_set());
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) = arguments
        .filter(|one| one.get_id() != "help")
        .partition(|one| one.is_positional());
    Reference {
        name,
        usage: usage.trim_start_matches("Usage: mptcplab-host ").to_owned(),
        about: command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default(),
        options: positional.into_iter().chain(options).map(row).collect(),
    }
}

fn row(argument: &Arg) -> Row {
    let takes_value = !matches!(argument.get_action(), ArgAction::SetTrue);
    let choices: Vec<_> = match takes_value {
        true => argument
            .get_possible_values()
            .iter()
            .map(|one| one.get_name().to_owned())
            .collect(),
        false => Vec::new(),
    };
    let names = argument.get_value_names().unwrap_or_default();
    let value = match choices.is_empty() {
        true => names
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
        false => choices.join("|"),
    };
    let flag = match (argument.get_long(), argument.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => String::new(),
    };
    let value = if takes_value { value } else { String::new() };
    let defaults = argument.get_default_values().first();
    Row {
        name: format!("{flag} {value}").trim().to_owned(),
        meaning: argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default(),
        default: defaults
            .filter(|_| takes_value)
            .map(|default| default.to_string_lossy().into_owned()),
    }
}
