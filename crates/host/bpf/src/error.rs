//! Errors, each with a hint.

use std::io;

/// Lines of a log that are told at most.
const MOST_DETAILS: usize = 10;
/// Characters of such a line.
const LONGEST_DETAIL: usize = 200;

/// Why something by BPF did not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An object file that was compiled elsewhere cannot be loaded; says why.
    #[error("{0}")]
    Object(String),
    /// The kernel has one of this name already.
    #[error(
        "the kernel has {0} already: give yours another name, or unload what was loaded (`mptcplab cc unload {0}`)"
    )]
    Taken(String),
    /// It is registered by a link that a process holds.
    #[error("{0} is held by a process, and goes when that lets go of it")]
    HeldByProcess(String),
    /// Nothing of this name is loaded by BPF.
    #[error("{0} is not loaded: `mptcplab cc list` shows what is")]
    NothingLoaded(String),
    /// There was no compiler for the programs when mptcplab was built.
    #[error("built without BPF: install clang (apt install clang), then make setup")]
    NotBuilt,
    /// The library that loads programs is not installed, or is too old.
    #[error(
        "BPF programs are loaded by libbpf.so.1, which cannot be used here ({0}): install it (apt install libbpf1)"
    )]
    NoLibrary(String),
    /// The program is static, and the library wants the C library that it was built with.
    #[error(
        "BPF programs are loaded by libbpf.so.1, which this static program cannot open here ({0}): use the mptcplab-host that `make setup` builds"
    )]
    StaticProgram(String),
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
        /// The refused step.
        what: String,
        /// Its reason.
        error: io::Error,
        /// The last words of its verifier; empty or `: ` and words.
        log: String,
        /// The last lines of what its verifier and libbpf said.
        details: Vec<String>,
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
        let details = last_lines(log);
        let log = details
            .last()
            .map_or_else(String::new, |line| format!(": {line}"));
        Self::Refused {
            what: what.to_owned(),
            error,
            log,
            details,
        }
    }

    /// The same with the last lines of libbpf's warnings, where the verifier said nothing.
    pub(crate) fn explained(mut self, said: &str) -> Self {
        if let Self::Refused { details, .. } = &mut self
            && details.is_empty()
        {
            *details = last_lines(said);
        }
        self
    }

    /// The last lines of what the kernel's verifier and libbpf said; empty for other errors.
    pub fn details(&self) -> &[String] {
        match self {
            Self::Refused { details, .. } => details,
            _ => &[],
        }
    }
}

/// The last lines that say something.
fn last_lines(log: &str) -> Vec<String> {
    let said = log.lines().rev().map(str::trim);
    let said = said.filter(|line| !line.is_empty() && !is_statistics(line));
    let mut last: Vec<String> = said.take(MOST_DETAILS).map(printable).collect();
    last.reverse();
    last
}

/// The line with its control characters escaped: it quotes the program's source.
fn printable(line: &str) -> String {
    let escaped = |c: char| match c {
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    line.chars().take(LONGEST_DETAIL).map(escaped).collect()
}

/// Words of the verifier after its reason.
fn is_statistics(line: &str) -> bool {
    ["processed ", "verification time ", "stack depth "]
        .iter()
        .any(|start| line.starts_with(start))
}
