//! Gives up what the broker does not need: its user where another is named, every capability but
//! CAP_NET_ADMIN, the file system, and all system calls but those that serving needs.
//!
//! All of it holds for the calling thread and those that it starts from then on.

mod system_calls;

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, Gid, Uid, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_keep_capabilities, set_no_new_privs,
    set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

use crate::StartError;
use crate::config::Identity;

/// The first version with all rights that are needed here; newer ones only refine them.
const LANDLOCK: ABI = ABI::V6;

/// Gives up everything that is not needed. In `folder` files may still be removed.
///
/// # Errors
/// Where the kernel refuses; a kernel without Landlock is none.
pub(crate) fn confine(
    user: Option<Identity>,
    folder: Option<&Path>,
    with_bpf: bool,
) -> Result<(), StartError> {
    // Before the user changes.
    let folder = folder.map(PathFd::new).transpose();
    let folder = folder.map_err(|error| {
        StartError::system("opening the socket's folder", std::io::Error::other(error))
    })?;
    privileges(user).map_err(|error| StartError::system("giving up privileges", error))?;
    files(folder).map_err(|error| {
        StartError::system("giving up the file system", std::io::Error::other(error))
    })?;
    system_calls::give_up(with_bpf)
        .map_err(|error| StartError::system("giving up system calls", std::io::Error::other(error)))
}

fn privileges(user: Option<Identity>) -> Result<(), Errno> {
    clear_ambient_capability_set()?;
    for bit in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)) {
            // The kernel knows no more of them.
            Err(Errno::INVAL) => break,
            // Without the right to do so no capability can be had from the set either.
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(Identity { uid, gid }) = user {
        set_keep_capabilities(true)?;
        set_thread_groups(&[])?;
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
        set_keep_capabilities(false)?;
    }
    let only = CapabilitySet::NET_ADMIN;
    set_capabilities(
        None,
        CapabilitySets {
            effective: only,
            permitted: only,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    set_no_new_privs(true)?;
    // Other processes of the same user may not look into it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

fn files(folder: Option<PathFd>) -> Result<RulesetStatus, RulesetError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?
        .create()?;
    let ruleset = match folder {
        Some(folder) => ruleset.add_rule(PathBeneath::new(folder, AccessFs::RemoveFile))?,
        None => ruleset,
    };
    Ok(ruleset.restrict_self()?.ruleset)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::thread;

    use super::*;

    #[test]
    fn files_are_out_of_reach_without_a_filter_of_system_calls() {
        let path = std::env::temp_dir().join(format!("mptcplab-landlock-{}", std::process::id()));
        fs::write(&path, "").unwrap();
        let tried = thread::spawn({
            let path = path.clone();
            move || (files(None), File::open(&path), fs::remove_file(&path))
        });
        let (status, opened, removed) = tried.join().unwrap();
        fs::remove_file(&path).unwrap();
        match status.unwrap() {
            RulesetStatus::NotEnforced => println!("skipped: this kernel has no Landlock"),
            _ => assert!(opened.is_err() && removed.is_err()),
        }
    }
}
