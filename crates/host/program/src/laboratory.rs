//! The command line of the laboratory, `mptcplab`, which tells its commands and options as a table.

use std::io::Read;

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command};
use serde::Deserialize;

/// A program.
#[derive(Deserialize)]
struct Program {
    version: String,
    #[serde(flatten)]
    top: Described,
}

/// The description of a program or of a command.
#[derive(Deserialize)]
struct Described {
    name: String,
    about: String,
    arguments: Vec<Argument>,
    /// Its own commands, where it has some.
    #[serde(default)]
    commands: Vec<Described>,
}

/// An option, or a positional argument.
#[derive(Deserialize)]
struct Argument {
    /// Its name without dashes.
    name: String,
    is_option: bool,
    /// A name for its value, or the values that there are; none of them for a flag.
    values: Vec<String>,
    meaning: String,
    default: Option<String>,
    required: bool,
    /// Whether it may be given several times.
    many: bool,
}

/// The program of which the table tells. Commands of `host` stand in it without their arguments.
///
/// # Errors
/// The table cannot be read.
pub(crate) fn program(table: impl Read, host: &Command) -> anyhow::Result<Command> {
    let told: Program = serde_json::from_reader(table).context("the table of commands")?;
    let mut top = told.top;
    let commands = std::mem::take(&mut top.commands)
        .into_iter()
        .map(|command| {
            let own = host.find_subcommand(&command.name);
            own.filter(|_| command.arguments.is_empty())
                .cloned()
                .unwrap_or_else(|| described(command))
        });
    Ok(described(top)
        .version(told.version)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .subcommands(commands))
}

fn described(command: Described) -> Command {
    Command::new(command.name)
        .about(command.about)
        .args(command.arguments.into_iter().map(argument))
        .subcommands(command.commands.into_iter().map(described))
}

fn argument(told: Argument) -> Arg {
    let action = match (told.values.is_empty(), told.many) {
        (true, _) => ArgAction::SetTrue,
        (false, false) => ArgAction::Set,
        (false, true) => ArgAction::Append,
    };
    let mut made = Arg::new(told.name.clone())
        .help(told.meaning)
        .required(told.required)
        .action(action);
    if told.is_option {
        made = made.long(told.name);
    } else if told.many {
        made = made.num_args(1..);
    }
    if let [value] = told.values.as_slice() {
        made = made.value_name(value);
    } else if !told.values.is_empty() {
        made = made.value_parser(PossibleValuesParser::new(told.values));
    }
    match told.default {
        Some(default) => made.default_value(default),
        None => made,
    }
}
