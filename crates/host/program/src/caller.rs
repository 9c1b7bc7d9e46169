//! The version of the laboratory that starts this program for one of its commands: they must agree.

use std::env;

use anyhow::ensure;

/// Where the laboratory puts its version.
const VARIABLE: &str = "MPTCPLAB_CALLER_VERSION";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Comes before the arguments are parsed: a program of another version may not know them.
///
/// # Errors
/// The caller is a laboratory of another version.
pub(crate) fn check() -> anyhow::Result<()> {
    let Ok(caller) = env::var(VARIABLE) else {
        return Ok(());
    };
    ensure!(
        caller == VERSION,
        "mptcplab {caller} needs mptcplab-host {caller}, but {} is {VERSION}: `make setup` builds \
         it, or `cargo install --path crates/host/program` in the sources",
        env::current_exe()?.display()
    );
    Ok(())
}
