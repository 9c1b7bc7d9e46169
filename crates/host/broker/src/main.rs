//! The broker by itself, which tests and benchmarks start: `mptcplab-broker < CONFIG`, in JSON.

use std::process::ExitCode;

use mptcplab_broker::{Config, StartError, run};

fn main() -> ExitCode {
    let Err(error) = std::io::read_to_string(std::io::stdin())
        .map_err(|error| StartError::Config(error.to_string()))
        .and_then(|json| run(&Config::parse(&json)?));
    eprintln!("{error}");
    ExitCode::FAILURE
}
