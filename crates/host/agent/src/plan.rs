//! Plans, as the server gives them.

use std::net::IpAddr;
use std::time::Duration;

use mptcplab_measure::message::is_congestion_control;
use mptcplab_measure::steps::{Direction, MOST_PATHS, Order, Transfers, steps};
use mptcplab_measure::token::Token;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::result::MOST_STEPS;
use crate::window::Window;

const LONGEST_NAME: usize = 200;
const LONGEST_HOST: usize = 253;
const MOST_INTERFACES: usize = 64;
const MOST_WINDOWS: usize = 32;
const MOST_SIZES: usize = 8;
const MOST_CONGESTION_CONTROLS: usize = 8;
const LARGEST_SIZE: u64 = 1_000_000_000_000;
const MOST_REPETITIONS: u32 = 100;
const LONGEST_INTERVAL_S: u64 = 366 * 86_400;
/// Plans that are taken at most.
pub const MOST_PLANS: usize = 100;

/// Experiments that are wanted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Plan {
    /// Changes with every change of the plan.
    pub id: String,
    /// Stays the same.
    pub name: String,
    /// The end to measure against.
    pub target: TargetPlace,
    /// Names of the interfaces to use.
    pub interfaces: Option<Vec<String>>,
    /// Local addresses to use, a path each. Without these and interfaces, all interfaces that reach
    /// the target are used.
    #[serde(default)]
    pub addresses: Option<Vec<IpAddr>>,
    /// The name of the network namespace that they are in; none: the agent's own.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Of transfers.
    pub sizes_bytes: Vec<u64>,
    /// Of transfers.
    pub directions: Vec<Direction>,
    /// Repetitions within one experiment.
    pub repeat: u32,
    /// Of both ends, one for each experiment that is due; none: that of each end's system.
    #[serde(deserialize_with = "one_or_several")]
    pub congestion_control: Vec<String>,
    /// Of transfers within a repetition.
    pub order: Order,
    /// Decides, with an experiment's number, the order of its transfers.
    pub seed: u64,
    /// When experiments begin.
    pub schedule: Interval,
    /// When they may begin, in UTC.
    pub windows: Vec<Window>,
    /// Data of one experiment at most.
    pub budget_bytes: u64,
    /// Data of all experiments of a day, in UTC, at most.
    pub daily_bytes: u64,
    /// Experiments at most.
    pub most_experiments: Option<u64>,
    /// The end of the plan, in seconds since 1970.
    pub until_unix_s: Option<i64>,
}

/// A name, a list of names, or null.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Names {
        One(String),
        Several(Vec<String>),
    }
    let names = Option::<Names>::deserialize(deserializer)?;
    Ok(match names {
        None => Vec::new(),
        Some(Names::One(name)) => vec![name],
        Some(Names::Several(names)) => names,
    })
}

/// Where a target is, and by what it serves.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TargetPlace {
    /// Its name or address.
    pub host: String,
    /// Its port for control channels.
    pub port: u16,
    /// Its token.
    pub token: String,
}

/// Experiments at a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Interval {
    /// Between their times.
    pub every_s: u64,
    /// Each one begins later by a time of chance below this.
    pub spread_s: u64,
}

impl Interval {
    /// Between their times.
    pub fn every(self) -> Duration {
        Duration::from_secs(self.every_s)
    }
}

impl Plan {
    /// The plan of a value.
    ///
    /// # Errors
    /// One that is none, or that nothing can carry out: a sentence without its stop.
    pub fn parse(value: &Value) -> Result<Self, String> {
        let name = value["id"].as_str().unwrap_or("a plan without an id");
        let name: String = name.chars().take(LONGEST_NAME).collect();
        let plan: Self =
            Deserialize::deserialize(value).map_err(|error| format!("{name}: {error}"))?;
        match plan.problem() {
            None => Ok(plan),
            Some(problem) => Err(format!("{name}: {problem}")),
        }
    }

    fn problem(&self) -> Option<&'static str> {
        let is_name = |name: &str| {
            let letters = name.chars().count();
            (1..=LONGEST_NAME).contains(&letters) && !name.chars().any(char::is_control)
        };
        let interfaces = self.interfaces.as_deref().unwrap_or(&[]);
        let sizes = &self.sizes_bytes;
        let addresses = self.addresses.as_deref().unwrap_or(&[]);
        let controls = &self.congestion_control;
        let has_each_once = self.directions.len() == 1
            || self.directions.len() == 2 && self.directions[0] != self.directions[1];
        let Interval { every_s, spread_s } = self.schedule;
        let checks = [
            (
                is_name(&self.id) && is_name(&self.name),
                "id and name are wanted",
            ),
            (
                (1..=LONGEST_HOST).contains(&self.target.host.len()) && self.target.port != 0,
                "the target has no host or no port",
            ),
            (
                Token::parse(&self.target.token).is_ok(),
                "the target's token is none",
            ),
            (
                interfaces.len().max(addresses.len()) <= MOST_INTERFACES,
                "too many interfaces or addresses",
            ),
            (
                (1..=MOST_SIZES).contains(&sizes.len())
                    && sizes.iter().all(|size| (1..=LARGEST_SIZE).contains(size)),
                "1 to 8 sizes are wanted, from 1 B to 1000 GB",
            ),
            (has_each_once, "directions are down, up, or both"),
            (
                (1..=MOST_REPETITIONS).contains(&self.repeat),
                "1 to 100 repetitions are wanted",
            ),
            (
                self.most_steps() <= MOST_STEPS,
                "its sizes, directions and repetitions are more steps than a result can have",
            ),
            (
                (1..=LONGEST_INTERVAL_S).contains(&every_s) && spread_s <= LONGEST_INTERVAL_S,
                "intervals go from a second to 366 days",
            ),
            (self.windows.len() <= MOST_WINDOWS, "too many windows"),
            (
                controls.len() <= MOST_CONGESTION_CONTROLS
                    && controls.iter().all(|name| is_congestion_control(name)),
                "1 to 8 congestion controls are wanted, with names of 1 to 15 letters",
            ),
        ];
        checks
            .iter()
            .find_map(|(is_right, problem)| (!is_right).then_some(*problem))
    }

    /// The congestion controls of the experiments that are due at the same time; none: that of each
    /// end's system.
    pub fn congestion_controls(&self) -> Vec<Option<&str>> {
        match &self.congestion_control[..] {
            [] => vec![None],
            names => names.iter().map(|name| Some(&name[..])).collect(),
        }
    }

    /// Its transfers.
    pub fn transfers(&self) -> Transfers {
        Transfers {
            sizes: self.sizes_bytes.clone(),
            directions: self.directions.clone(),
            repeat: self.repeat,
        }
    }

    /// Steps of an experiment over as many paths as there can be.
    fn most_steps(&self) -> usize {
        let transfers = self.sizes_bytes.len().saturating_mul(self.directions.len());
        // By TCP over each path, by MPTCP, and by TCP over all at once; after an idle RTT of each.
        let of_transfers = transfers.saturating_mul(MOST_PATHS + 2);
        let of_repetition = of_transfers.saturating_add(MOST_PATHS);
        // Two looks at survival, one at payload and three at data in SYNs come first, and a load of
        // each path last.
        let others = 7 * MOST_PATHS;
        let repetitions = of_repetition.saturating_mul(self.repeat as usize);
        repetitions.saturating_add(others)
    }

    /// Data of an experiment over as many paths as there can be, at most.
    pub fn most_bytes(&self) -> u64 {
        let planned = steps(MOST_PATHS, &self.transfers(), Order::Interleaved, 0, true);
        let most = mptcplab_measure::steps::most_bytes(&planned, MOST_PATHS);
        most.min(self.budget_bytes)
    }

    /// It can be carried out only where the time is known.
    pub fn needs_utc(&self) -> bool {
        !self.windows.is_empty() || self.until_unix_s.is_some()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    pub(crate) fn value() -> Value {
        json!({
            "id": "lines@3", "name": "lines",
            "target": {"host": "t.example.org", "port": 4420, "token": Token::new(&[]).text()},
            "interfaces": null, "sizes_bytes": [100_000, 1_000_000], "directions": ["down", "up"],
            "repeat": 3, "congestion_control": null, "order": "random", "seed": 1,
            "schedule": {"every_s": 3_600, "spread_s": 600},
            "windows": [{"from": "22:00", "to": "06:00"}],
            "budget_bytes": 50_000_000, "daily_bytes": 500_000_000, "most_experiments": null,
            "until_unix_s": null
        })
    }

    pub(crate) fn plan(change: impl FnOnce(&mut Plan)) -> Plan {
        let mut plan = Plan::parse(&value()).unwrap();
        plan.windows.clear();
        change(&mut plan);
        plan
    }

    #[test]
    fn a_plan_is_read_and_later_fields_do_no_harm() {
        let mut later = value();
        later["colour"] = json!("blue");
        let plan = Plan::parse(&later).unwrap();
        assert_eq!(plan.schedule.every(), Duration::from_secs(3_600));
        assert_eq!((plan.order, plan.directions.len()), (Order::Random, 2));
        assert_eq!(plan.most_bytes(), 50_000_000);
    }

    #[test]
    fn an_experiment_is_due_with_each_congestion_control() {
        for (given, expected) in [
            (json!(null), vec![None]),
            (json!("reno"), vec![Some("reno")]),
            (json!(["reno", "bbr"]), vec![Some("reno"), Some("bbr")]),
        ] {
            let mut wanted = value();
            wanted["congestion_control"] = given;
            let plan = Plan::parse(&wanted).unwrap();
            assert_eq!(plan.congestion_controls(), expected);
        }
    }

    #[test]
    fn a_plan_that_cannot_be_carried_out_is_refused_with_its_name() {
        for (key, wrong) in [
            ("id", json!("")),
            ("name", json!("a\nb")),
            (
                "target",
                json!({"host": "", "port": 1, "token": "mptcplab1-"}),
            ),
            (
                "target",
                json!({"host": "t", "port": 0, "token": "mptcplab1-"}),
            ),
            (
                "target",
                json!({"host": "t", "port": 1, "token": "mptcplab1-"}),
            ),
            ("interfaces", json!(vec!["eth0"; 65])),
            ("addresses", json!(vec!["192.0.2.1"; 65])),
            ("addresses", json!(["wifi"])),
            ("sizes_bytes", json!([])),
            ("sizes_bytes", json!([0])),
            ("sizes_bytes", json!([-1])),
            ("directions", json!(["down", "down"])),
            ("directions", json!([])),
            ("repeat", json!(0)),
            ("repeat", json!(1_000_000)),
            ("schedule", json!({"every_s": 0, "spread_s": 0})),
            ("windows", json!([{"from": "25:00", "to": "06:00"}])),
            ("order", json!("sorted")),
            ("congestion_control", json!("")),
            (
                "congestion_control",
                json!(["reno", "a name too long for it"]),
            ),
            ("congestion_control", json!(vec!["reno"; 9])),
            ("congestion_control", json!(7)),
            ("seed", json!(1.5)),
        ] {
            let mut plan = value();
            plan[key] = wrong.clone();
            let told = Plan::parse(&plan).expect_err(&format!("{key}: {wrong}"));
            assert!(key == "id" || told.starts_with("lines@3: "), "{told}");
        }
        assert!(Plan::parse(&json!(null)).is_err());
    }

    #[test]
    fn a_plan_has_no_more_steps_than_a_result() {
        let steps_of = |sizes: usize, repeat: u32| {
            let mut wanted = value();
            wanted["sizes_bytes"] = json!(vec![1_000; sizes]);
            wanted["repeat"] = json!(repeat);
            Plan::parse(&wanted).map(|plan| {
                let planned = steps(MOST_PATHS, &plan.transfers(), plan.order, 1, true);
                assert_eq!(planned.len() + MOST_PATHS, plan.most_steps());
                plan.most_steps()
            })
        };
        assert_eq!(steps_of(2, 100), Ok(56 + 100 * 48));
        assert_eq!(steps_of(8, 29), Ok(56 + 29 * 168));
        assert!(steps_of(8, 30).unwrap_err().contains("more steps"));
        assert!(steps_of(3, 100).is_err());
    }

    proptest! {
        #[test]
        fn any_text_of_json_is_a_plan_or_none(key_number in 0_usize..16, text: String, number: i64) {
            let mut plan = value();
            let key = plan.as_object().unwrap().keys().nth(key_number).unwrap().clone();
            plan[&key] = json!(text);
            let _ = Plan::parse(&plan);
            plan[&key] = json!(number);
            let _ = Plan::parse(&plan);
            plan[&key] = json!([number, text]);
            let _ = Plan::parse(&plan);
        }
    }
}
