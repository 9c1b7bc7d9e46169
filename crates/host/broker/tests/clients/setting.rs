//! The namespace's path manager, which the broker selects and puts back.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use mptcplab_linux::netns::NetNs;
use mptcplab_testbed::{Hosts, inside, inside_as_root};

use crate::common::Folder;
use crate::process::{Process, program};
use crate::stage::{HONEST, HOSTILE};

/// From Linux 6.15 on.
const SETTING: &str = "/proc/sys/net/mptcp/path_manager";

fn get(netns: &NetNs) -> String {
    let read = netns.run(|| fs::read_to_string(SETTING)).unwrap();
    read.unwrap().trim().to_owned()
}

fn set(netns: &NetNs, value: &str) {
    netns.run(|| fs::write(SETTING, value)).unwrap().unwrap();
}

/// Settings before a broker, while it serves, and after it was ended by a signal.
fn around(end: &str, other: impl FnOnce(&mut serde_json::Value)) -> [String; 3] {
    let hosts = Hosts::new(1);
    let netns = &hosts.client;
    set(netns, "kernel");
    let before = get(netns);
    let mut broker = Process::start_as(netns, Folder::new(), program(), other);
    let meanwhile = get(netns);
    broker.signal(end);
    [before, meanwhile, get(netns)]
}

fn is_here() -> bool {
    let is_here = fs::exists(SETTING).unwrap_or(false);
    if !is_here {
        println!("skipped: this kernel has no {SETTING}");
    }
    is_here
}

#[test]
fn it_is_put_back_unless_the_broker_is_killed_or_leaves_it() {
    if !inside("setting::it_is_put_back_unless_the_broker_is_killed_or_leaves_it") || !is_here() {
        return;
    }
    assert_eq!(around("TERM", |_| {}), ["kernel", "userspace", "kernel"]);
    assert_eq!(around("KILL", |_| {}), ["kernel", "userspace", "userspace"]);
    let left = around("TERM", |told| told["leave_setting"] = true.into());
    assert_eq!(left, ["kernel"; 3]);
}

#[test]
fn it_is_put_back_by_a_broker_that_became_another_user() {
    if !inside_as_root("setting::it_is_put_back_by_a_broker_that_became_another_user") || !is_here()
    {
        return;
    }
    let as_another = around("TERM", |told| {
        told["user"] = serde_json::json!({"uid": HONEST, "gid": HONEST});
    });
    assert_eq!(as_another, ["kernel", "userspace", "kernel"]);
}

/// A broker is killed in one namespace; another one at the same socket begins and ends in order, in
/// this or another one. What that leaves, where it found this.
fn after_a_kill(in_another: bool, found: &str) -> String {
    let hosts = Hosts::new(1);
    set(&hosts.client, "kernel");
    let mut killed = Process::start(&hosts.client, Folder::new());
    killed.signal("KILL");
    assert_eq!(get(&hosts.client), "userspace");
    let netns = if in_another {
        &hosts.server
    } else {
        &hosts.client
    };
    set(netns, found);
    let mut next = Process::start(netns, killed.take_folder());
    next.signal("TERM");
    get(netns)
}

#[test]
fn the_next_broker_puts_back_what_a_killed_one_has_changed() {
    if !inside("setting::the_next_broker_puts_back_what_a_killed_one_has_changed") || !is_here() {
        return;
    }
    assert_eq!(after_a_kill(false, "userspace"), "kernel");
    assert_eq!(after_a_kill(true, "userspace"), "userspace");
    assert_eq!(after_a_kill(true, "kernel"), "kernel");
}

#[test]
fn what_a_broker_noted_is_no_more_once_it_has_ended_in_order() {
    if !inside_as_root("setting::what_a_broker_noted_is_no_more_once_it_has_ended_in_order")
        || !is_here()
    {
        return;
    }
    let hosts = Hosts::new(1);
    let netns = &hosts.client;
    set(netns, "kernel");
    // Such a one may not remove what it noted.
    let mut first = Process::start_as(netns, Folder::new(), program(), |told| {
        told["user"] = serde_json::json!({"uid": HONEST, "gid": HONEST});
    });
    first.signal("TERM");
    assert_eq!(get(netns), "kernel");
    set(netns, "userspace");
    let mut second = Process::start(netns, first.take_folder());
    second.signal("TERM");
    assert_eq!(get(netns), "userspace");
}

#[test]
fn a_note_that_others_may_have_written_counts_for_nothing() {
    if !inside_as_root("setting::a_note_that_others_may_have_written_counts_for_nothing")
        || !is_here()
    {
        return;
    }
    let spoil: [fn(&Path); 3] = [
        |note| fs::set_permissions(note, Permissions::from_mode(0o666)).unwrap(),
        |note| chown(note, Some(HOSTILE), None).unwrap(),
        |note| {
            let elsewhere = note.with_extension("elsewhere");
            fs::rename(note, &elsewhere).unwrap();
            symlink(elsewhere, note).unwrap();
        },
    ];
    for spoil in spoil {
        let hosts = Hosts::new(1);
        let netns = &hosts.client;
        set(netns, "kernel");
        let mut killed = Process::start(netns, Folder::new());
        killed.signal("KILL");
        spoil(&killed.socket.with_extension("sock.setting"));
        let mut next = Process::start(netns, killed.take_folder());
        next.signal("TERM");
        assert_eq!(get(netns), "userspace");
    }
}

#[test]
fn a_second_broker_has_changed_nothing() {
    if !inside("setting::a_second_broker_has_changed_nothing") || !is_here() {
        return;
    }
    let hosts = Hosts::new(1);
    let netns = &hosts.client;
    set(netns, "kernel");
    let start = || Process::start(netns, Folder::new());
    let (mut first, mut second) = (start(), start());
    second.signal("TERM");
    assert_eq!(get(netns), "userspace");
    first.signal("TERM");
    assert_eq!(get(netns), "kernel");
}
