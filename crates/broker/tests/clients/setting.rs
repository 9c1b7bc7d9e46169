//! Who opens the subflows of the broker's namespace, and that it is put back as it was.

use std::fs;

use mptcplab_kernel::netns::NetNs;
use mptcplab_testbed::{Hosts, inside, inside_as_root};

use crate::common::Folder;
use crate::process::{Process, program};
use crate::stage::HONEST;

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
