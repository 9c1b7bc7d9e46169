//! The policy: what each client may do.

use mptcplab_subflow::Error;
use serde::Deserialize;

/// Rules, of which the first that names a client decides. Clients that none names may do nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The rules in their order.
    pub rules: Vec<Rule>,
}

/// User and groups of a client, as the kernel tells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// User.
    pub uid: u32,
    /// Its group, and the supplementary ones.
    pub groups: Vec<u32>,
}

/// The users or groups that a rule names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Named {
    /// All of them.
    All,
    /// Those with these numbers.
    These(Vec<u32>),
}

/// The addresses that a client may announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Announce {
    /// None.
    No,
    /// Those of the interfaces that it may use.
    Own,
    /// Any, also those of others.
    Any,
}

/// Rights of the clients that it names over their own connections. All of them may close subflows,
/// withdraw addresses and watch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its file and line, for messages.
    pub place: String,
    /// Users.
    pub users: Named,
    /// Groups. A client is named by its user or by one of its groups.
    pub groups: Named,
    /// Names of interfaces from whose addresses subflows may be opened; `*` stands for anything.
    pub interfaces: Vec<String>,
    /// The most subflows of a connection, the initial one included.
    pub max_subflows: u32,
    /// Priorities may be changed.
    pub backup: bool,
    /// Addresses may be announced.
    pub announce: Announce,
    /// Options that may be set and read on a subflow: level and number.
    pub options: Vec<(i32, i32)>,
    /// Congestion controls that may be set, where that option is allowed; all when not given.
    pub congestion_controls: Option<Vec<String>>,
}

impl Policy {
    /// Index of the rule that decides about a client.
    ///
    /// # Errors
    /// [`Error::Forbidden`] where none names it.
    pub fn rule_for(&self, client: &Credentials) -> Result<usize, Error> {
        let index = self.rules.iter().position(|rule| rule.names(client));
        index.ok_or_else(|| Error::Forbidden {
            reason: "no rule names you".to_owned(),
        })
    }
}

impl Named {
    fn has(&self, numbers: &[u32]) -> bool {
        match self {
            Self::All => true,
            Self::These(these) => numbers.iter().any(|number| these.contains(number)),
        }
    }
}

impl Rule {
    fn names(&self, client: &Credentials) -> bool {
        self.users.has(&[client.uid]) || self.groups.has(&client.groups)
    }

    /// Every interface may be used: addresses need no check.
    pub(crate) fn has_all_interfaces(&self) -> bool {
        self.interfaces.iter().any(|pattern| pattern == "*")
    }

    /// Checks that all of these interfaces may be used.
    pub(crate) fn check_interfaces(&self, names: &[String]) -> Result<(), Error> {
        let allowed = |name: &&String| {
            let mut patterns = self.interfaces.iter();
            patterns.any(|pattern| matches(pattern.as_bytes(), name.as_bytes()))
        };
        match names.iter().find(|name| !allowed(name)) {
            None => Ok(()),
            Some(name) => Err(self.forbids(&format!("interface {name} is not among `interfaces`"))),
        }
    }

    /// Checks that a connection with so many subflows may have one more.
    pub(crate) fn check_room(&self, subflows: usize) -> Result<(), Error> {
        if subflows < self.max_subflows as usize {
            return Ok(());
        }
        Err(Error::LimitReached {
            limit: self.max_subflows,
        })
    }

    /// Checks that priorities may be changed.
    pub(crate) fn check_backup(&self) -> Result<(), Error> {
        if self.backup {
            return Ok(());
        }
        Err(self.forbids("`backup` is no"))
    }

    /// Checks that an option may be read.
    pub(crate) fn check_get(&self, level: i32, option: i32) -> Result<(), Error> {
        if (level, option) == (libc::IPPROTO_TCP, libc::TCP_INFO)
            || self.options.contains(&(level, option))
        {
            return Ok(());
        }
        Err(self.forbids(&format!(
            "option {option} of level {level} is not among `options`"
        )))
    }

    /// Checks that an option may be set to this value.
    pub(crate) fn check_set(&self, level: i32, option: i32, value: &[u8]) -> Result<(), Error> {
        if (level, option) == (libc::IPPROTO_TCP, libc::TCP_INFO) {
            return Err(self.forbids("TCP_INFO is to be read only"));
        }
        self.check_get(level, option)?;
        if (level, option) != (libc::IPPROTO_TCP, libc::TCP_CONGESTION) {
            return Ok(());
        }
        let name = value.split(|&byte| byte == 0).next().unwrap_or_default();
        match &self.congestion_controls {
            Some(names) if !names.iter().any(|known| known.as_bytes() == name) => {
                let name = String::from_utf8_lossy(name);
                let reason = format!("{name} is not among `congestion_controls`");
                Err(self.forbids(&reason))
            }
            _ => Ok(()),
        }
    }

    /// A refusal in the name of this rule.
    pub(crate) fn forbids(&self, reason: &str) -> Error {
        Error::Forbidden {
            reason: format!("{}: {reason}", self.place),
        }
    }
}

/// Tells whether a name matches a pattern, in which `*` stands for any number of any bytes.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at_pattern, mut at_name) = (0, 0);
    // Where to go on after a mismatch behind the last star.
    let mut star = None;
    while at_name < name.len() {
        match pattern.get(at_pattern) {
            Some(b'*') => {
                star = Some((at_pattern + 1, at_name + 1));
                at_pattern += 1;
            }
            Some(byte) if *byte == name[at_name] => {
                (at_pattern, at_name) = (at_pattern + 1, at_name + 1)
            }
            _ => match star {
                None => return false,
                Some((pattern, name)) => {
                    (at_pattern, at_name) = (pattern, name);
                    star = Some((pattern, name + 1));
                }
            },
        }
    }
    pattern[at_pattern..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule() -> Rule {
        Rule {
            place: "policy.yaml:3".to_owned(),
            users: Named::These(vec![1000]),
            groups: Named::These(vec![]),
            interfaces: vec!["wlan*".to_owned(), "eth0".to_owned()],
            max_subflows: 2,
            backup: false,
            announce: Announce::No,
            options: vec![(libc::IPPROTO_TCP, libc::TCP_CONGESTION)],
            congestion_controls: Some(vec!["reno".to_owned()]),
        }
    }

    fn client(uid: u32, groups: &[u32]) -> Credentials {
        Credentials {
            uid,
            groups: groups.to_vec(),
        }
    }

    #[test]
    fn the_first_rule_that_names_a_client_decides() {
        let others = Rule {
            place: "policy.yaml:9".to_owned(),
            users: Named::These(vec![]),
            groups: Named::These(vec![27]),
            ..rule()
        };
        let policy = Policy {
            rules: vec![rule(), others],
        };
        assert_eq!(policy.rule_for(&client(1000, &[27])), Ok(0));
        assert_eq!(policy.rule_for(&client(1001, &[5, 27])), Ok(1));
        let unnamed = policy.rule_for(&client(0, &[0])).unwrap_err();
        assert_eq!(
            unnamed.to_string(),
            "the broker's policy forbids it: no rule names you"
        );
        let everybody = Policy {
            rules: vec![Rule {
                users: Named::All,
                ..rule()
            }],
        };
        assert_eq!(everybody.rule_for(&client(77, &[])), Ok(0));
    }

    #[test]
    fn every_interface_that_has_the_address_must_be_allowed() {
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(rule().check_interfaces(&names(&["wlan0", "eth0"])), Ok(()));
        let error = rule().check_interfaces(&names(&["eth0", "eth01"]));
        assert_eq!(
            error.unwrap_err().to_string(),
            "the broker's policy forbids it: policy.yaml:3: interface eth01 is not among \
             `interfaces`"
        );
    }

    #[test]
    fn what_a_rule_does_not_grant_is_refused() {
        let rule = rule();
        assert_eq!(rule.check_room(1), Ok(()));
        assert_eq!(rule.check_room(2), Err(Error::LimitReached { limit: 2 }));
        assert!(matches!(rule.check_backup(), Err(Error::Forbidden { .. })));
        let (tcp, congestion) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
        assert_eq!(rule.check_get(tcp, libc::TCP_INFO), Ok(()));
        assert!(rule.check_set(tcp, libc::TCP_INFO, &[]).is_err());
        assert_eq!(rule.check_get(tcp, congestion), Ok(()));
        assert_eq!(rule.check_set(tcp, congestion, b"reno\0bbr"), Ok(()));
        assert!(rule.check_set(tcp, congestion, b"bbr").is_err());
        assert!(rule.check_get(tcp, libc::TCP_NODELAY).is_err());
        assert!(
            rule.check_set(libc::SOL_SOCKET, libc::SO_MARK, &[0; 4])
                .is_err()
        );
    }

    proptest! {
        #[test]
        fn a_pattern_is_matched_as_its_definition_says(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
            fn by_definition(pattern: &[u8], name: &[u8]) -> bool {
                match pattern.split_first() {
                    None => name.is_empty(),
                    Some((b'*', rest)) => (0..=name.len()).any(|n| by_definition(rest, &name[n..])),
                    Some((byte, rest)) => name.first() == Some(byte) && by_definition(rest, &name[1..]),
                }
            }
            let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(matches(pattern, name), by_definition(pattern, name));
        }
    }
}
