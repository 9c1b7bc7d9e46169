//! Experiments against a target, as the server gets them.

use std::fs;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mptcplab_agent::run;
use mptcplab_agent::store::Store;
use mptcplab_measure::target::{Config, Identity, Target};
use serde_json::{Value, json};

use crate::server::{Running, answer, config, files, run_once, takes, wait_until};

/// A target that serves until this is dropped.
struct Serving {
    port: u16,
    token: String,
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    fn start(rate_limit_bps: Option<u64>) -> Self {
        let config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            data_port: 0,
            rate_limit_bps,
            volume_limit_bytes: None,
        };
        let identity = Identity::new(1).unwrap();
        let target = Target::bind(&config, &identity).unwrap();
        let (stop, stopped) = UnixStream::pair().unwrap();
        Self {
            port: target.address().unwrap().port(),
            token: identity.tokens[0].text(),
            stop: Some(stop),
            thread: Some(thread::spawn(move || target.run(stopped).unwrap())),
        }
    }

    fn plan(&self, change: impl FnOnce(&mut Value)) -> Value {
        let mut plan = json!({
            "id": "lines@3", "name": "lines",
            "target": {"host": "127.0.0.1", "port": self.port, "token": self.token},
            "interfaces": null, "sizes_bytes": [10_000], "directions": ["down", "up"],
            "repeat": 1, "congestion_control": "reno", "order": "random", "seed": 1,
            "schedule": {"every_s": 3_600, "spread_s": 0}, "windows": [],
            "budget_bytes": 200_000, "daily_bytes": 350_000, "most_experiments": null,
            "until_unix_s": null
        });
        change(&mut plan);
        plan
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.take();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn results(running: &Running) -> Vec<Value> {
    let puts = running.asked("PUT ");
    puts.iter()
        .map(|one| serde_json::from_slice(&one.body).unwrap())
        .collect()
}

fn number(result: &Value, key: &str) -> u64 {
    result[key].as_u64().unwrap()
}

#[test]
fn a_plan_is_carried_out_within_its_budgets_and_its_results_are_sent() {
    let target = Serving::start(None);
    let plans = json!([target.plan(|_| ()), {"id": "broken@1"}]);
    let running = Running::start(move |asked| takes(asked, &plans));
    let folder = running.enrolled();
    run_once(&config(folder.path())).unwrap();
    let [first] = &results(&running)[..] else {
        panic!("one result")
    };
    assert_eq!(
        (&first["outcome"], &first["reason"]),
        (&json!("complete"), &Value::Null)
    );
    let steps = first["steps"].as_array().unwrap().iter();
    let kinds: Vec<_> = steps.map(|step| step["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "survival");
    for kind in ["idle", "tcp", "mptcp"] {
        assert!(kinds.contains(&kind), "{kind}");
    }
    assert!(number(first, "used_bytes") <= 200_000);
    // The server's time is known before any experiment begins.
    assert!(running.asked("")[0].place.ends_with("/contact"));
    assert_eq!(
        (&first["plan"], &first["agent"]),
        (&json!("lines@3"), &json!("a1"))
    );
    assert_eq!(first["paths"][0]["source"], "127.0.0.1");
    assert!(number(&first["host"], "processors") > 0);
    let told = running.contact();
    assert!(
        told["problem"].as_str().unwrap().starts_with("broken@1: "),
        "{told}"
    );
    assert_eq!(told["paths"][0]["interface"], "lo");

    for _ in 0..4 {
        run_once(&config(folder.path())).unwrap();
    }
    let every = results(&running);
    let sequences: Vec<_> = every.iter().map(|one| number(one, "sequence")).collect();
    assert_eq!(sequences, [0, 1, 2, 3, 4]);
    let used: u64 = every.iter().map(|one| number(one, "used_bytes")).sum();
    assert!(used <= 350_000, "{used}");
    let last = &every[4];
    assert_eq!(
        (&last["outcome"], &last["steps"]),
        (&json!("skipped"), &json!([]))
    );
    assert_ne!(every[0]["seed"], every[1]["seed"]);
}

/// The congestion controls that an ordinary user may have here.
fn allowed_controls() -> Vec<String> {
    let allowed = fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
    let allowed = allowed.unwrap();
    allowed.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn each_congestion_control_has_an_experiment_of_its_own_at_both_ends() {
    let mut controls = allowed_controls();
    controls.push("nosuch".to_owned());
    let target = Serving::start(None);
    let plan = target.plan(|plan| {
        plan["congestion_control"] = json!(controls);
        plan["daily_bytes"] = json!(2_000_000);
    });
    let running = Running::start(move |asked| takes(asked, &json!([plan])));
    let folder = running.enrolled();
    run_once(&config(folder.path())).unwrap();
    let results = results(&running);
    let told: Vec<_> = results
        .iter()
        .map(|one| one["congestion_control"].as_str().unwrap())
        .collect();
    assert_eq!(told, controls);
    let (last, carried_out) = results.split_last().unwrap();
    assert_eq!(
        (&last["outcome"], &last["steps"]),
        (&json!("skipped"), &json!([]))
    );
    let reason = last["reason"].as_str().unwrap();
    let expected =
        "This host cannot use congestion control nosuch: the kernel has none of this name";
    assert!(reason.starts_with(expected), "{reason}");
    for (result, control) in carried_out.iter().zip(&controls) {
        assert_eq!(result["outcome"], "complete", "{result}");
        let steps = result["steps"].as_array().unwrap();
        let connections = steps
            .iter()
            .flat_map(|step| step["result"]["connections"].as_array().unwrap());
        for one in connections {
            for end in ["probe", "target"] {
                let used = &one[end]["seen"]["congestion_control"];
                assert_eq!(used, &json!(control), "{end}");
            }
        }
    }
}

#[test]
fn a_target_that_is_not_reached_is_a_result_too() {
    let target = Serving::start(None);
    let plan = target.plan(|plan| plan["most_experiments"] = json!(1));
    drop(target);
    let running = Running::start(move |asked| takes(asked, &json!([plan])));
    let folder = running.enrolled();
    run_once(&config(folder.path())).unwrap();
    run_once(&config(folder.path())).unwrap();
    let [only] = &results(&running)[..] else {
        panic!("one result")
    };
    assert_eq!(
        (&only["outcome"], &only["steps"]),
        (&json!("failed"), &json!([]))
    );
    assert!(only["reason"].as_str().unwrap().contains("127.0.0.1"));
}

/// The agent of the next test has told that it is not taken.
static TOLD_REVOKED: AtomicBool = AtomicBool::new(false);

#[test]
fn a_revoked_agent_measures_nothing_until_it_is_taken_again() {
    let target = Serving::start(None);
    let plan = target.plan(|plan| plan["schedule"] = json!({"every_s": 1, "spread_s": 0}));
    let is_revoked = Arc::new(AtomicBool::new(false));
    let revoked = Arc::clone(&is_revoked);
    let running = Running::start(move |asked| match revoked.load(Ordering::Relaxed) {
        true => answer(401, &json!({"error": "revoked"})),
        false => takes(asked, &json!([plan])),
    });
    let folder = running.enrolled();
    run_once(&config(folder.path())).unwrap();
    is_revoked.store(true, Ordering::Relaxed);
    let told = run_once(&config(folder.path())).unwrap_err().to_string();
    assert!(
        told.ends_with("the server does not take this agent (revoked)"),
        "{told}"
    );
    let store = Store::open(folder.path(), config(folder.path()).caps).unwrap();
    assert!(store.plans().plans.is_empty());
    drop(store);
    let asked = running.asked("GET ").len();
    let (stop, stopped) = UnixStream::pair().unwrap();
    let mut always = config(folder.path());
    always.is_once = false;
    TOLD_REVOKED.store(false, Ordering::Relaxed);
    always.log = |line| {
        let is_it = line.contains("does not take this agent");
        TOLD_REVOKED.fetch_or(is_it, Ordering::Relaxed);
    };
    let agent = thread::spawn(move || run(&always, stopped));
    // An experiment would begin with the answer to its question for plans.
    wait_until("a refusal", || TOLD_REVOKED.load(Ordering::Relaxed));
    assert_eq!(running.asked("GET ").len(), asked + 1);
    drop(stop);
    agent.join().unwrap().unwrap();
    assert!(files(folder.path(), "spool").is_empty());
    is_revoked.store(false, Ordering::Relaxed);
    run_once(&config(folder.path())).unwrap();
    assert_eq!(results(&running).len(), 2);
}

#[test]
fn results_are_sent_although_experiments_take_longer_than_their_interval() {
    let target = Serving::start(None);
    let plan = target.plan(|plan| {
        plan["schedule"] = json!({"every_s": 1, "spread_s": 0});
        plan["daily_bytes"] = json!(1_000_000_000);
    });
    let running = Running::start(move |asked| takes(asked, &json!([plan])));
    let folder = running.enrolled();
    let (stop, stopped) = UnixStream::pair().unwrap();
    let mut config = config(folder.path());
    config.is_once = false;
    let agent = thread::spawn(move || run(&config, stopped));
    wait_until("three results", || running.asked("PUT ").len() >= 3);
    drop(stop);
    agent.join().unwrap().unwrap();
    for result in results(&running) {
        assert!(number(&result, "took_ms") > 1_000, "{result}");
    }
}

#[test]
fn an_agent_that_is_stopped_keeps_what_it_has_measured() {
    let target = Serving::start(Some(400_000));
    let plan = target.plan(|plan| {
        plan["sizes_bytes"] = json!([500_000]);
        plan["budget_bytes"] = json!(10_000_000);
        plan["daily_bytes"] = json!(10_000_000);
    });
    let running = Running::start(move |asked| match asked.place.starts_with("PUT") {
        true => None,
        false => takes(asked, &json!([plan])),
    });
    let are_measuring = || {
        let contacts = running.asked("POST ");
        let bodies = contacts.iter();
        let bodies = bodies.map(|one| String::from_utf8_lossy(&one.body));
        bodies.filter(|body| body.contains("measuring")).count()
    };
    // The first step takes about a second, and all of them much longer than these times.
    let result = [1, 2, 4, 8, 16].into_iter().find_map(|seconds| {
        let folder = running.enrolled();
        let (stop, stopped) = UnixStream::pair().unwrap();
        let mut config = config(folder.path());
        config.is_once = false;
        config.contact_interval = Duration::from_millis(100);
        let before = are_measuring();
        let agent = thread::spawn(move || run(&config, stopped));
        wait_until("an experiment", || are_measuring() > before);
        thread::sleep(Duration::from_secs(seconds));
        drop(stop);
        agent.join().unwrap().unwrap();
        let names = files(folder.path(), "spool");
        assert_eq!(names.len(), 1, "{names:?}");
        let bytes = fs::read(folder.path().join("spool").join(&names[0])).unwrap();
        let result: Value = serde_json::from_slice(&bytes).unwrap();
        // It was too early for a step to be done.
        (result["outcome"] != "skipped").then_some(result)
    });
    let result = result.expect("a step is done");
    assert_eq!(result["outcome"], "partial");
    assert_eq!(result["reason"], "It was stopped");
    assert_eq!(result["target"]["rate_limit_bps"], 400_000);
}
