//! The processes of a run's programs, stopped (SIGSTOP) and let go on (SIGCONT) together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::netns::NetNs;

/// The lab process, in its PID namespace.
const LAB: i32 = 1;
/// Programs may start others while they are being stopped.
const MOST_LOOKS: usize = 16;

/// A namespace as the file system knows it: device and inode.
type NamespaceId = (u64, u64);

/// Processes that have been stopped.
pub(crate) struct Halted(BTreeSet<i32>);

/// A process as `/proc/PID/stat` has it.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    state: char,
    parent: i32,
}

impl Halted {
    /// Stops every program in these namespaces that the lab or one of its programs has started, also
    /// daemons that have left their group. Those that somebody has started from outside, as a shell in
    /// a host, go on.
    pub(crate) fn in_namespaces(namespaces: &[NetNs]) -> io::Result<Self> {
        let ids: BTreeSet<_> = namespaces.iter().map(id).collect::<io::Result<_>>()?;
        let mut halted = BTreeSet::new();
        for _ in 0..MOST_LOOKS {
            let new: Vec<i32> = of_programs(&processes()?)
                .filter(|pid| {
                    !halted.contains(pid) && id_of(*pid).is_some_and(|id| ids.contains(&id))
                })
                .collect();
            if new.is_empty() {
                break;
            }
            for pid in new {
                // It may have ended.
                let _ = kill(Pid::from_raw(pid), Signal::SIGSTOP);
                halted.insert(pid);
            }
        }
        Ok(Self(halted))
    }

    /// Lets them go on.
    pub(crate) fn go_on(self) {
        for pid in self.0 {
            // It may have been killed.
            let _ = kill(Pid::from_raw(pid), Signal::SIGCONT);
        }
    }
}

/// Those of processes that run and are the lab's.
fn of_programs(all: &BTreeMap<i32, Process>) -> impl Iterator<Item = i32> {
    const DO_NOT_RUN: [char; 5] = ['T', 't', 'Z', 'X', 'x'];
    let is_ours = |pid: i32| {
        let mut parents = std::iter::successors(Some(pid), |pid| Some(all.get(pid)?.parent));
        // A process cannot be its own ancestor, but the list is not of one moment.
        parents.by_ref().take(all.len() + 1).any(|pid| pid == LAB)
    };
    let running = all
        .iter()
        .filter(|(_, process)| !DO_NOT_RUN.contains(&process.state));
    running
        .map(|(pid, _)| *pid)
        .filter(move |&pid| pid != LAB && is_ours(pid))
}

/// The processes in the lab's PID namespace.
fn processes() -> io::Result<BTreeMap<i32, Process>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // It may have ended.
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        all.extend(parse(&stat).map(|process| (pid, process)));
    }
    Ok(all)
}

/// Reads `/proc/PID/stat`; a program's name, in parentheses, may hold anything.
fn parse(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    Some(Process {
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
    })
}

fn id(netns: &NetNs) -> io::Result<NamespaceId> {
    let file = File::from(netns.as_fd().try_clone_to_owned()?).metadata()?;
    Ok((file.dev(), file.ino()))
}

fn id_of(pid: i32) -> Option<NamespaceId> {
    let file = fs::metadata(format!("/proc/{pid}/ns/net")).ok()?;
    Some((file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_parentheses_and_blanks() {
        let process = |state, parent| Some(Process { state, parent });
        assert_eq!(parse("7 (sh) S 1 7 7 0"), process('S', 1));
        assert_eq!(parse("8 (a) T 1 (b) R 7 8 8 0"), process('R', 7));
        assert_eq!(parse("8 (a"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn programs_are_those_that_descend_from_the_lab_and_run() {
        let all: BTreeMap<_, _> = [
            (1, 'S', 0),
            (2, 'R', 1),
            (3, 'S', 2),
            (4, 'Z', 1),
            (5, 'T', 1),
            (6, 'S', 0),
            (7, 'S', 6),
            (8, 'S', 9),
            (9, 'S', 8),
        ]
        .map(|(pid, state, parent)| (pid, Process { state, parent }))
        .into();
        assert_eq!(of_programs(&all).collect::<Vec<_>>(), [2, 3]);
    }
}
