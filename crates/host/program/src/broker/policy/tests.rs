use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use libc::{IPPROTO_TCP, SO_MARK, SOL_SOCKET, TCP_CONGESTION};

use super::*;

fn good(text: &str) -> (Policy, Limits) {
    parse(text, "policy.yaml").unwrap()
}

fn mistakes(text: &str) -> String {
    let problems = parse(text, "policy.yaml").unwrap_err();
    refusal("policy.yaml", problems).to_string()
}

#[test]
fn rules_have_numbers_and_their_place() {
    let text = "\
rules:
  - users: [root, 1001]
    groups: root
    interfaces: [wlan*, wwan0]
    max_subflows: 2
    backup: no
    announce: any
    options: [TCP_CONGESTION, SO_MARK]
    congestion_controls: [cubic]
  - users: all
limits:
  opens: 7
";
    let (policy, limits) = good(text);
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let first = Rule {
        place: "policy.yaml:2".to_owned(),
        users: Named::These(vec![0, 1001]),
        groups: Named::These(vec![0]),
        interfaces: names(&["wlan*", "wwan0"]),
        max_subflows: 2,
        backup: false,
        announce: Announce::Any,
        options: vec![(IPPROTO_TCP, TCP_CONGESTION), (SOL_SOCKET, SO_MARK)],
        congestion_controls: Some(names(&["cubic"])),
    };
    let second = Rule {
        place: "policy.yaml:10".to_owned(),
        users: Named::All,
        groups: Named::These(vec![]),
        interfaces: names(&["*"]),
        max_subflows: 8,
        backup: true,
        announce: Announce::Own,
        options: vec![],
        congestion_controls: None,
    };
    assert_eq!(policy.rules, [first, second]);
    let seven = Limits {
        opens: 7,
        ..Limits::default()
    };
    assert_eq!(limits, seven);
}

#[test]
fn mistakes_are_named_with_place_and_fix() {
    for (text, told) in [
        (
            "rules: [{}]",
            "policy.yaml:1: rules.0: names nobody: add `users: all`, say,",
        ),
        (
            "rules:\n  - users: nobody-of-this-name",
            "policy.yaml:2: rules.0.users: \"nobody-of-this-name\": there is no user of this name",
        ),
        (
            "rules:\n  - {users: [-1]}",
            "policy.yaml:2: rules.0.users: -1: numbers of users go from 0 to 4294967294",
        ),
        (
            "rules: [{users: 4294967295}]",
            "4294967295: numbers of users go from 0 to 4294967294",
        ),
        (
            "rules: [{groups: [all]}]",
            "rules.0.groups: \"all\": there is no group of this name",
        ),
        (
            "rules: [{users: [true]}]",
            "expected a user's name or number",
        ),
        (
            "rules: [{users: }]",
            "rules.0.users: expected a user's name or number",
        ),
        (
            "rules:\n  - users: all\n    interface: [eth0]",
            "policy.yaml:3: rules.0.interface: unknown key: did you mean \"interfaces\"?",
        ),
        (
            "rules: []\nlimits: {open: 3}",
            "policy.yaml:2: limits.open: unknown key: did you mean \"opens\"?",
        ),
        (
            "rules: []\nlimits: {opens: 0, sessions: 1.5, watches: 100001}",
            "limits.watches: 100001: must be at most 100000",
        ),
        (
            "rules: []\nlimits: {opens: 0, sessions: 1.5}",
            "limits.sessions: 1.5: expected a whole number",
        ),
        (
            "rules: [{users: all, options: [TCP_CONGESTON]}]",
            "rules.0.options.0: \"TCP_CONGESTON\": did you mean \"TCP_CONGESTION\"?",
        ),
        (
            "rules: [{users: all, congestion_controls: [cubic]}]",
            "rules.0.congestion_controls: says nothing without `options: [TCP_CONGESTION]`",
        ),
        (
            "rules: [{users: all, congestion_controls: [a-name-of-sixteen]}]",
            "no name of a congestion control",
        ),
        (
            "rules: [{users: all, max_subflows: 0}]",
            "0: must be at least 1",
        ),
        (
            "rules: [{users: all, max_subflows: 257}]",
            "257: must be at most 256",
        ),
        (
            "rules: [{users: all, announce: sometimes}]",
            "\"sometimes\": known: no, own, any",
        ),
        (
            "rules: [{users: all, backup: maybe}]",
            "\"maybe\": expected true or false",
        ),
        (
            "rules: [{users: all, interfaces: eth0}]",
            "\"eth0\": expected a list (`[a, b]`)",
        ),
        (
            "rules: [{users: all, interfaces: [3]}]",
            "rules.0.interfaces.0: 3: expected text",
        ),
        ("rules: [all]", "rules.0: \"all\": expected a mapping"),
        ("rules: all", "rules: \"all\": expected a list"),
        ("- users: all", "policy.yaml:1: a policy is a mapping"),
        ("", "policy.yaml:1: a policy is a mapping"),
        ("limits: {}", "policy.yaml:1: rules: missing"),
        (
            "rules: []\nrules: []",
            "policy.yaml:2: rules: given twice (first in line 1)",
        ),
        (
            "rules: [{users: all}]\n---\nrules: []\n",
            "policy.yaml:2: a second document: a file holds one policy",
        ),
        (
            "rules: [{users: \"\\e[31m\"}]",
            "policy.yaml:1: rules.0.users: holds \\x1b, which cannot be printed",
        ),
    ] {
        let mistakes = mistakes(text);
        assert!(mistakes.contains(told), "{text}: {mistakes}");
    }
}

#[test]
fn every_mistake_is_told() {
    let mistakes = mistakes("rules:\n  - users: all\n    backup: 3\n  - {}\nlimit: 3\n");
    let lines: Vec<_> = mistakes.lines().collect();
    assert_eq!(
        lines,
        [
            "policy.yaml:3: rules.0.backup: 3: expected true or false",
            "policy.yaml:4: rules.1: names nobody: add `users: all`, say, or `groups: [staff]`",
            "policy.yaml:5: limit: unknown key: did you mean \"limits\"?",
        ]
    );
}

#[test]
fn names_that_no_interface_can_have_are_refused_at_their_line() {
    for name in [
        "",
        ".",
        "..",
        "a b",
        "a\\nb",
        "a\\tb",
        "a/b",
        "a:1",
        "a%d",
        "\u{e0}",
        "a\u{200b}b",
        "a-name-of-sixteen",
    ] {
        let text =
            format!("rules:\n  - users: all\n    interfaces:\n      - eth0\n      - \"{name}\"");
        let told = mistakes(&text);
        let at = "policy.yaml:5: rules.0.interfaces.1: ";
        assert!(told.starts_with(at), "{name}: {told}");
        assert!(told.contains("no name of an interface"), "{name}: {told}");
    }
}

#[test]
fn names_that_an_interface_can_have_are_taken() {
    for name in [
        "wlp3s0",
        "eth0.100",
        "veth@1",
        "w*",
        "..*",
        "\u{e9}th0",
        "a'b",
    ] {
        let text = format!("rules: [{{users: all, interfaces: [\"{name}\"]}}]");
        let (policy, _) = good(&text);
        assert_eq!(policy.rules[0].interfaces, [name]);
    }
}

#[test]
fn a_policy_that_cannot_be_read_is_named() {
    let refused = |path: &str| read(Path::new(path)).unwrap_err().to_string();
    assert_eq!(
        refused("nowhere.yaml"),
        "nowhere.yaml: cannot be read (No such file or directory)"
    );
    assert_eq!(
        refused("/dev/zero"),
        "/dev/zero: cannot be read (it is a device: write its content into a file)"
    );
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let told = refused(pipe.to_str().unwrap());
    assert!(told.ends_with("cannot be read (it is a pipe: write its content into a file)"));
    let large = folder.path().join("large");
    fs::write(&large, "#".repeat(128 * 1024 + 1)).unwrap();
    assert!(refused(large.to_str().unwrap()).ends_with(": larger than 128 KiB"));
}

#[test]
fn without_a_policy_the_own_user_may_do_everything() {
    let [rule] = &own().rules[..] else {
        panic!("one rule")
    };
    assert_eq!(rule.users, Named::These(vec![getuid().as_raw()]));
    assert_eq!(rule.interfaces, ["*"]);
    assert_eq!(rule.options.len(), socket_options::names().len());
}

#[test]
fn the_shipped_example_is_in_order() {
    let packaging = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../packaging");
    let (policy, limits) = read(&packaging.join("broker.yaml")).unwrap();
    assert_eq!(policy.rules.len(), 2);
    assert_eq!(limits, Limits::default());
}

#[test]
fn each_option_has_the_level_of_its_name_and_a_number_of_its_own() {
    for name in socket_options::names() {
        let level = match name.split_once('_').unwrap().0 {
            "IP" => libc::IPPROTO_IP,
            "IPV6" => libc::IPPROTO_IPV6,
            "SO" => SOL_SOCKET,
            "TCP" => IPPROTO_TCP,
            other => panic!("{other}"),
        };
        assert_eq!(socket_options::find(name).unwrap().0, level, "{name}");
    }
    let numbers: HashSet<_> = socket_options::all().into_iter().collect();
    assert_eq!(numbers.len(), socket_options::names().len());
    assert_eq!(socket_options::find("TCP_INFO"), None);
}
