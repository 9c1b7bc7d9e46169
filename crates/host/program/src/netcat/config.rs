//! The file that says which address or interface is WiFi and which is cellular: YAML (`wifi:
//! 10.0.2.6`), or lines such as `WIFI=10.0.2.6`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use anyhow::{anyhow, bail};

use crate::file_option::read_text;
use crate::problem::{did_you_mean, refusal};
use crate::yaml::{self, LARGEST_FILE_BYTES, Value};

pub(super) const WIFI: &str = "wifi";
pub(super) const CELLULAR: &str = "cellular";
const KEYS: [&str; 2] = [WIFI, CELLULAR];
/// IFNAMSIZ of Linux, without the closing zero.
const LONGEST_INTERFACE_NAME_BYTES: usize = 15;
const LONGEST_SHOWN_CHARACTERS: usize = 40;

/// An address or interface for each key that the file has.
pub(super) type Names = BTreeMap<String, String>;

/// A key and what stands behind it; `None` where that is no text.
struct Entry {
    line: usize,
    key: String,
    value: Option<String>,
}

/// Reads the file.
///
/// # Errors
/// Each mistake with its line and fix.
pub(super) fn read(file: &Path) -> anyhow::Result<Names> {
    let origin = file.display().to_string();
    let text = read_text(file, LARGEST_FILE_BYTES).map_err(|error| {
        anyhow!(
            "{origin}: {error}; write `{WIFI}:` and `{CELLULAR}:` into it, each with an address or \
             interface"
        )
    })?;
    parse(&text, &origin)
}

fn parse(text: &str, origin: &str) -> anyhow::Result<Names> {
    let entries = match is_assignments(text) {
        true => assignments(text, origin)?,
        false => mapping(text, origin)?,
    };
    let mut names = Names::new();
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for Entry { line, key, value } in entries {
        match known(&key, value.as_deref()) {
            Err(problem) => problems.push(format!("{origin}:{line}: {problem}")),
            Ok((key, value)) => match lines.get(key) {
                Some(first) => problems.push(format!(
                    "{origin}:{line}: {key}: given twice (first in line {first})"
                )),
                None => {
                    lines.insert(key.to_owned(), line);
                    names.insert(key.to_owned(), value);
                }
            },
        }
    }
    match problems.is_empty() {
        true => Ok(names),
        false => bail!(problems.join("\n")),
    }
}

/// Whether the first line with content has `=` before any `:`.
fn is_assignments(text: &str) -> bool {
    let content = text.lines().map(str::trim);
    let first = content
        .into_iter()
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        line.find(['=', ':'])
            .is_some_and(|at| line[at..].starts_with('='))
    })
}

/// Lines of the form `KEY=VALUE`; `#` begins a comment.
fn assignments(text: &str, origin: &str) -> anyhow::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let Some((key, value)) = text.split_once('=') else {
            bail!("{origin}:{line}: write lines such as `WIFI=10.0.2.6`");
        };
        let value = value.trim();
        let quoted = ['"', '\''].into_iter().find_map(|quote| {
            let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
            Some(inner.to_owned())
        });
        let key = key.trim();
        // A shell's variable of this name may be written in capital letters.
        let lower = key.to_lowercase();
        let is_known = KEYS.contains(&lower.as_str());
        entries.push(Entry {
            line,
            key: if is_known { lower } else { key.to_owned() },
            value: Some(quoted.unwrap_or_else(|| value.to_owned())),
        });
    }
    Ok(entries)
}

/// One mapping of scalars in YAML.
fn mapping(text: &str, origin: &str) -> anyhow::Result<Vec<Entry>> {
    let tree = yaml::parse(text, "configuration");
    let tree = tree.map_err(|problem| refusal(origin, vec![problem]))?;
    let Value::Mapping(entries) = tree.value else {
        bail!("{origin}: write lines such as `{WIFI}: 10.0.2.6`");
    };
    let entries = entries.into_iter().map(|(key, node)| Entry {
        line: node.line,
        key: key.to_string(),
        value: match node.value {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        },
    });
    Ok(entries.collect())
}

fn known<'a>(key: &'a str, value: Option<&str>) -> Result<(&'a str, String), String> {
    if !KEYS.contains(&key) {
        let shown: String = key.chars().take(LONGEST_SHOWN_CHARACTERS).collect();
        let fix = did_you_mean(key, &KEYS);
        return Err(format!("{shown:?} is not known: {fix}"));
    }
    let value = value.and_then(|value| match value.parse::<IpAddr>() {
        Ok(address) => Some(address.to_string()),
        Err(_) => is_interface(value).then(|| value.to_owned()),
    });
    value.map(|value| (key, value)).ok_or_else(|| {
        format!("{key}: an address of this host, such as 10.0.2.6, or an interface, such as wlan0")
    })
}

/// Whether the kernel takes a text as an interface's name (`dev_valid_name` of Linux).
pub(super) fn is_interface(name: &str) -> bool {
    (1..=LONGEST_INTERFACE_NAME_BYTES).contains(&name.len())
        && !name.contains(|letter: char| letter.is_whitespace() || matches!(letter, '/' | ':'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, String> {
        match parse(text, "nc.yaml") {
            Ok(names) => Ok(names.into_iter().collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn addresses_and_interfaces_are_read_from_both_forms() {
        let names = [("cellular", "fd00:3::6"), ("wifi", "wlan0")];
        let names: Vec<_> = names
            .map(|(key, name)| (key.to_owned(), name.to_owned()))
            .into();
        for text in [
            "# the car\nwifi: wlan0\ncellular: fd00:3:0::6\n",
            "{wifi: 'wlan0', cellular: \"fd00:3::6\"}",
            "# the car\n\nWIFI=wlan0\nCELLULAR = 'fd00:3::6'  # modem\n",
            "cellular=\"fd00:3::6\"\nWiFi=wlan0",
        ] {
            assert_eq!(read(text).as_ref(), Ok(&names), "{text}");
        }
    }

    #[test]
    fn an_alias_stands_for_its_anchor() {
        let both = ["cellular", "wifi"].map(|key| (key.to_owned(), "eth1".to_owned()));
        assert_eq!(read("wifi: &a eth1\ncellular: *a\n"), Ok(both.into()));
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let twice = "given twice (first in line 1)";
        for (text, said) in [
            (
                "wifi: 10.0.2.6\nwfii: eth1\n",
                "nc.yaml:2: \"wfii\" is not known: did you mean \"wifi\"?",
            ),
            (
                "wifi: 10.0.2.300/24\n",
                "nc.yaml:1: wifi: an address of this host",
            ),
            ("wifi: [eth1]\n", "nc.yaml:1: wifi: an address"),
            (
                "wifi: {a: [b]}\ncellular: eth1",
                "nc.yaml:1: wifi: an address",
            ),
            ("cellular: 3\n", "nc.yaml:1: cellular: an address"),
            (
                "wifi: an interface of long name\n",
                "nc.yaml:1: wifi: an address",
            ),
            (
                "wifi: eth1\nwifi: eth2\n",
                "nc.yaml:2: wifi: given twice (first in line 1)",
            ),
            ("- eth1\n", "write lines such as `wifi: 10.0.2.6`"),
            ("", "write lines such as"),
            ("wifi: {\n", "not valid YAML"),
            ("WIFI=eth1\nwifi=eth2\n", twice),
            (
                "WIFI=eth1\ncellular: eth2\n",
                "nc.yaml:2: write lines such as `WIFI=10.0.2.6`",
            ),
            (
                "WIFI=eth1\nLTE=eth2\n",
                "nc.yaml:2: \"LTE\" is not known: known: wifi, cellular",
            ),
            ("WIFI=\n", "nc.yaml:1: wifi: an address"),
            (
                "wifi: eth1\n---\n",
                "nc.yaml:2: a second document: a file holds one configuration",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,400}") {
            for (key, name) in read(&text).unwrap_or_default() {
                prop_assert!(KEYS.contains(&key.as_str()) && !name.is_empty());
            }
        }
    }
}
