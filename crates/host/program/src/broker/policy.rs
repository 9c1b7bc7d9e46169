//! The broker's policy, as YAML: who may do what with their own connections.

use std::io;
use std::path::Path;

use anyhow::anyhow;
use mptcplab_broker::Limits;
use mptcplab_broker::policy::{Announce, Named, Policy, Rule};
use nix::unistd::getuid;

use super::socket_options;
use crate::accounts;
use crate::file_option::read_text;
use crate::problem::{Problem, did_you_mean, refusal};
use crate::yaml::fields::{At, Fields};
use crate::yaml::{self, Node, Value, quoted};

const ALL: &str = "all";
const ANNOUNCE: [(&str, Announce); 3] = [
    ("no", Announce::No),
    ("own", Announce::Own),
    ("any", Announce::Any),
];
const LARGEST_ID: u32 = u32::MAX - 1;
/// The number that MPTCP_FULL_INFO is asked for.
const MOST_SUBFLOWS: u32 = 256;
const DEFAULT_SUBFLOWS: u32 = 8;
/// IFNAMSIZ of Linux and TCP_CA_NAME_MAX, without the closing zero.
const LONGEST_NAME_BYTES: usize = 15;
/// Linux takes each byte for a character of Latin-1: the last is a space, too.
const NOT_IN_INTERFACE_NAMES: &[u8] = b"/ :%\xa0";

/// Reads a policy.
///
/// # Errors
/// Every mistake that was found, with its line and fix.
pub(super) fn read(file: &Path) -> anyhow::Result<(Policy, Limits)> {
    let origin = file.display().to_string();
    let text =
        read_text(file, yaml::LARGEST_FILE_BYTES).map_err(|error| anyhow!("{origin}: {error}"))?;
    parse(&text, &origin).map_err(|problems| refusal(&origin, problems))
}

/// The policy that holds where none is given: the broker's own user may do everything.
pub(super) fn own() -> Policy {
    let rule = Rule {
        place: "without --policy".to_owned(),
        users: Named::These(vec![getuid().as_raw()]),
        groups: nobody(),
        interfaces: vec!["*".to_owned()],
        max_subflows: MOST_SUBFLOWS,
        backup: true,
        announce: Announce::Own,
        options: socket_options::all(),
        congestion_controls: None,
    };
    Policy { rules: vec![rule] }
}

fn parse(text: &str, origin: &str) -> Result<(Policy, Limits), Vec<Problem>> {
    let tree = yaml::parse(text, "policy").map_err(|problem| vec![problem])?;
    let mut fields = Fields::default();
    let read = policy(&mut fields, &tree, origin);
    match fields.problems.is_empty() {
        true => Ok(read),
        false => Err(fields.problems),
    }
}

fn policy(fields: &mut Fields, tree: &Node, origin: &str) -> (Policy, Limits) {
    let top = At::top(tree);
    if !matches!(tree.value, Value::Mapping(_)) {
        fields.refuse(&top, "a policy is a mapping: `rules: [{users: all}]`, say");
        return (Policy::default(), Limits::default());
    }
    let found = fields.mapping(&top, &["rules", "limits"]);
    let rules = match found.get("rules") {
        Some(at) => fields.list(at),
        None => {
            fields.refuse(&top, "rules: missing: add `rules: [{users: all}]`, say");
            Vec::new()
        }
    };
    let rules = rules.iter().map(|at| rule(fields, at, origin)).collect();
    let limits = found.get("limits").map(|at| limits(fields, at));
    (Policy { rules }, limits.unwrap_or_default())
}

fn rule(fields: &mut Fields, at: &At<'_>, origin: &str) -> Rule {
    let problems_before = fields.problems.len();
    let found = fields.mapping(
        at,
        &[
            "users",
            "groups",
            "interfaces",
            "max_subflows",
            "backup",
            "announce",
            "options",
            "congestion_controls",
        ],
    );
    let users = found.get("users").map(|at| {
        named(fields, at, "user", |name| {
            Ok(accounts::user(name)?.map(|user| user.uid))
        })
    });
    let groups = found
        .get("groups")
        .map(|at| named(fields, at, "group", accounts::group));
    let interfaces = found
        .get("interfaces")
        .map(|at| names(fields, at, interface));
    let max_subflows = found
        .get("max_subflows")
        .map(|at| fields.whole(at, 1..=MOST_SUBFLOWS));
    let announce = found.get("announce").map(|at| announce(fields, at));
    let options = found.get("options").map(|at| names(fields, at, option));
    let congestion_controls = found
        .get("congestion_controls")
        .filter(|at| at.node.value != Value::Null)
        .map(|at| names(fields, at, congestion_control));
    let rule = Rule {
        place: format!("{origin}:{}", at.node.line),
        users: users.unwrap_or_else(nobody),
        groups: groups.unwrap_or_else(nobody),
        interfaces: interfaces.unwrap_or_else(|| vec!["*".to_owned()]),
        max_subflows: max_subflows.unwrap_or(DEFAULT_SUBFLOWS),
        backup: found.get("backup").is_none_or(|at| fields.yes_or_no(at)),
        announce: announce.unwrap_or(Announce::Own),
        options: options.unwrap_or_default(),
        congestion_controls,
    };
    // Values that have mistakes may be missing.
    if fields.problems.len() == problems_before {
        if (&rule.users, &rule.groups) == (&nobody(), &nobody()) {
            fields.refuse(
                at,
                "names nobody: add `users: all`, say, or `groups: [staff]`",
            );
        }
        let tcp_congestion = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
        if rule.congestion_controls.is_some() && !rule.options.contains(&tcp_congestion) {
            fields.refuse(
                &found["congestion_controls"],
                "says nothing without `options: [TCP_CONGESTION]`",
            );
        }
    }
    rule
}

fn limits(fields: &mut Fields, at: &At<'_>) -> Limits {
    let found = fields.mapping(at, &["sessions", "opens", "watches", "requests_per_second"]);
    let mut limit = |key: &str, bounds| found.get(key).map(|at| fields.whole(at, bounds));
    let defaults = Limits::default();
    let amount = |limit: Option<u32>, default| limit.map_or(default, |limit| limit as usize);
    Limits {
        sessions: amount(limit("sessions", 1..=100_000), defaults.sessions),
        opens: amount(limit("opens", 1..=10_000), defaults.opens),
        watches: amount(limit("watches", 0..=100_000), defaults.watches),
        requests_per_second: limit("requests_per_second", 1..=1_000_000)
            .unwrap_or(defaults.requests_per_second),
    }
}

fn nobody() -> Named {
    Named::These(Vec::new())
}

/// `all`, a user or group, or a list of them.
fn named(
    fields: &mut Fields,
    at: &At<'_>,
    kind: &str,
    find: impl Fn(&str) -> io::Result<Option<u32>>,
) -> Named {
    let numbers = match &at.node.value {
        Value::Text(text) if &**text == ALL => return Named::All,
        Value::List(items) => items
            .iter()
            .map(|item| {
                let number = number(&item.value, kind, &find);
                number.map_err(|text| format!("{}: {text}", quoted(&item.value)))
            })
            .collect::<Result<Vec<_>, String>>()
            .map_err(|text| fields.refuse(at, text)),
        value => number(value, kind, &find)
            .map(|number| vec![number])
            .map_err(|text| fields.refuse_value(at, &text)),
    };
    numbers.map_or_else(|()| nobody(), Named::These)
}

fn number(
    value: &Value,
    kind: &str,
    find: impl Fn(&str) -> io::Result<Option<u32>>,
) -> Result<u32, String> {
    match value {
        Value::Integer(number) => u32::try_from(*number)
            .ok()
            .filter(|number| *number <= LARGEST_ID)
            .ok_or_else(|| format!("numbers of {kind}s go from 0 to {LARGEST_ID}")),
        Value::Text(name) => find(name)
            .map_err(|error| format!("cannot be looked up ({error})"))?
            .ok_or_else(|| format!("there is no {kind} of this name")),
        _ => Err(format!("expected a {kind}'s name or number")),
    }
}

fn announce(fields: &mut Fields, at: &At<'_>) -> Announce {
    let known = ANNOUNCE.map(|(name, _)| name);
    let word = match &at.node.value {
        Value::Text(text) => text.to_string(),
        value => quoted(value),
    };
    let found = ANNOUNCE.iter().find(|(name, _)| *name == word);
    found.map_or_else(
        || {
            fields.refuse_value(at, &did_you_mean(&word, &known));
            Announce::No
        },
        |(_, announce)| *announce,
    )
}

/// Each of a list of names, as it is read.
fn names<T>(fields: &mut Fields, at: &At<'_>, read: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
    let mut found = Vec::new();
    for at in fields.list(at) {
        let Some(name) = fields.text(&at) else {
            continue;
        };
        match read(name) {
            Ok(name) => found.push(name),
            Err(text) => fields.refuse_value(&at, &text),
        }
    }
    found
}

/// Refuses what dev_valid_name() and dev_alloc_name() of Linux refuse, and what has no glyph.
fn interface(name: &str) -> Result<String, String> {
    let is_printable = |letter: char| letter.is_ascii_graphic() || letter.escape_debug().len() == 1;
    let is_valid = (1..=LONGEST_NAME_BYTES).contains(&name.len())
        && ![".", ".."].contains(&name)
        && name.chars().all(is_printable)
        && !name
            .bytes()
            .any(|byte| NOT_IN_INTERFACE_NAMES.contains(&byte));
    is_valid.then(|| name.to_owned()).ok_or_else(|| {
        "no name of an interface: 1 to 15 bytes without spaces, /, : and %; * for anything"
            .to_owned()
    })
}

fn option(name: &str) -> Result<(i32, i32), String> {
    socket_options::find(name).ok_or_else(|| did_you_mean(name, &socket_options::names()))
}

fn congestion_control(name: &str) -> Result<String, String> {
    let is_valid = (1..=LONGEST_NAME_BYTES).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte == b' ' || byte.is_ascii_graphic());
    is_valid
        .then(|| name.to_owned())
        .ok_or_else(|| "no name of a congestion control: 1 to 15 letters".to_owned())
}

#[cfg(test)]
mod tests;
