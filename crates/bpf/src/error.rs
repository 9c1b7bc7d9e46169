//! What can go wrong, each with what to do about it.

use std::io;

/// Why something by BPF did not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There was no compiler for the programs when mptcplab was built.
    #[error("built without BPF: install clang (apt install clang), then make setup")]
    NotBuilt,
    /// The library that loads programs is not installed, or is too old.
    #[error(
        "BPF programs are loaded by libbpf.so.1, which cannot be used here ({0}): install it (apt install libbpf1)"
    )]
    NoLibrary(String),
    /// The kernel describes no types.
    #[error(
        "this kernel does not describe its types (/sys/kernel/btf/vmlinux is missing): use one with CONFIG_DEBUG_INFO_BTF, as distributions have"
    )]
    NoTypes,
    /// The process may not load programs.
    #[error(
        "BPF is not permitted here: run as root, or with CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_SYS_ADMIN, outside of user namespaces"
    )]
    NotPermitted,
    /// The kernel refuses something else.
    #[error("the kernel refuses {what} ({error}){log}")]
    Refused {
        /// What it refuses.
        what: String,
        /// Its reason.
        error: io::Error,
        /// What its verifier said last; empty or `: ` and words.
        log: String,
    },
    /// The kernel cannot tie a control to a process.
    #[error(
        "this kernel cannot unload {0} when a run ends (Linux 6.4 can): load it with `mptcplab cc load {0}` before"
    )]
    NoLinks(&'static str),
    /// It is registered already, by `cc load`.
    #[error("{0} is loaded already: `mptcplab cc unload {0}` unloads it")]
    Loaded(&'static str),
    /// It is registered already, by runs.
    #[error("{0} is loaded by a run that is under way: try again when it has ended")]
    LoadedByRun(&'static str),
    /// It is registered already, by others.
    #[error(
        "this kernel has a congestion control {0} that mptcplab has not loaded: nothing is to be done"
    )]
    Present(&'static str),
    /// It is not registered.
    #[error("{0} is not loaded: `mptcplab cc list` shows what is")]
    NotLoaded(&'static str),
    /// No TCP socket of this network namespace is this subflow.
    #[error(
        "no subflow {id} of a connection {token:08x} in this network namespace: has it been closed?"
    )]
    NoSuchSubflow {
        /// Token of the connection asked for.
        token: u32,
        /// Id of the subflow asked for.
        id: u32,
    },
    /// A value is empty, or longer than can be passed.
    #[error("an option of a subflow has 1 to {most} bytes, not {0}", most = crate::LONGEST_VALUE)]
    Length(usize),
    /// The kernel does not take this option, or this value, on a single subflow.
    #[error("the kernel refuses option {option} of level {level} on a single subflow: {error}")]
    Option {
        /// The option's level, `SOL_SOCKET` for instance.
        level: i32,
        /// Its number.
        option: i32,
        /// The kernel's reason: EINVAL for options that it does not offer there.
        error: io::Error,
    },
}

impl Error {
    /// The kernel's refusal of `what`, with its `log`.
    pub(crate) fn refused(what: &str, error: io::Error, log: &str) -> Self {
        let said = log.lines().rev().map(str::trim);
        let mut said = said.filter(|line| !line.is_empty() && !is_statistics(line));
        let log = said
            .next()
            .map_or_else(String::new, |line| format!(": {line}"));
        Self::Refused {
            what: what.to_owned(),
            error,
            log,
        }
    }
}

/// What the verifier says after its reason.
fn is_statistics(line: &str) -> bool {
    ["processed ", "verification time ", "stack depth "]
        .iter()
        .any(|start| line.starts_with(start))
}
