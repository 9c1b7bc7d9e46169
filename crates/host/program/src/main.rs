//! `mptcplab-host`: netcat over MPTCP, the broker, and what the connections and interfaces of a
//! running host do. Each subcommand is one module.

mod accounts;
mod agent;
mod bandwidth;
mod broker;
mod caller;
mod cc;
mod describe;
mod file_option;
mod laboratory;
mod netcat;
mod output;
mod path_manager;
mod problem;
mod signals;
mod size;
mod standard_streams;
mod subflows;
mod target;
mod ticks;
mod units;
mod yaml;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Tools of mptcplab for a running host.
#[derive(Parser)]
#[command(name = "mptcplab-host", version, about, max_term_width = 100)]
// The last of several values counts, as in other programs.
#[command(args_override_self = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the MPTCP connections of this host and their subflows.
    Subflows(subflows::Options),
    /// Log what each interface sends and receives, until Ctrl-C.
    Bandwidth(bandwidth::Options),
    /// Netcat over MPTCP: standard input and output at the ends of a connection.
    Nc(netcat::Options),
    /// Open and close the subflows of this host's connections, until Ctrl-C.
    PathManager(path_manager::Options),
    /// Open, close and steer subflows for programs without privilege, each for its own.
    Broker(broker::Options),
    /// Serve `mptcplab probe`: holders of a token measure against this host, until Ctrl-C.
    Target(target::Options),
    /// Measure the paths of this host by a server's plans, and send it the results.
    Agent(agent::Options),
    /// Have endpoints of the path manager until the end of standard input.
    #[command(hide = true)]
    HoldEndpoints(agent::HoldOptions),
    /// Load congestion controls into the kernel: lia, olia, balia, wvegas, or your own.
    #[command(subcommand)]
    Cc(cc::Options),
    /// Print the script that completes these commands and options in a shell.
    Completion(describe::CompletionOptions),
    /// Write the pages of the manual.
    #[command(hide = true)]
    Man(describe::ManOptions),
    /// Print the commands and their options as JSON.
    #[command(hide = true)]
    Reference,
}

fn main() -> ExitCode {
    if let Err(error) = caller::check() {
        return fail(&error);
    }
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(error) => return refuse(&error),
    };
    let done = match program.command {
        Command::Subflows(options) => subflows::run(&options).map(|()| 0),
        Command::Bandwidth(options) => bandwidth::run(&options).map(|()| 0),
        Command::Nc(options) => {
            standard_streams::close_again();
            netcat::run(&options)
        }
        Command::PathManager(options) => path_manager::run(&options).map(|()| 0),
        Command::Broker(options) => broker::run(&options).map(|()| 0),
        Command::Target(options) => target::run(&options).map(|()| 0),
        Command::Agent(options) => agent::run(&options).map(|()| 0),
        Command::HoldEndpoints(options) => agent::hold(&options).map(|()| 0),
        Command::Cc(options) => cc::run(&options).map(|()| 0),
        Command::Completion(options) => {
            describe::print_completion(&options, Program::command()).map(|()| 0)
        }
        Command::Man(options) => describe::write_manual(&options, Program::command()).map(|()| 0),
        Command::Reference => describe::print_reference(Program::command()).map(|()| 0),
    };
    match done {
        Ok(status) => ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX)),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    output::report(&format!("{error:#}"));
    ExitCode::FAILURE
}

/// Prints the help or version that is asked for, or what is wrong with the arguments.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match error.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    output::report(error.to_string().trim_end());
    ExitCode::from(2)
}
