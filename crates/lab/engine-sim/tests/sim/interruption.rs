//! Runs that do not come to their planned end.

use std::ops::ControlFlow;

use mptcplab_engine_sim::simulate;
use mptcplab_plan::{Capture, InterfaceRef, Protocol, Way};
use serde_json::Value;

use crate::support::{Lab, MS, Path, SECOND};

/// Rows of a run that is broken off when its first rows come.
fn interrupted(lab: &Lab) -> Vec<Value> {
    let mut lines = Vec::new();
    let mut sink = |chunk: &[u8]| {
        lines.extend_from_slice(chunk);
        ControlFlow::Break(())
    };
    simulate(&lab.plan, &mut sink).unwrap();
    let rows = serde_json::Deserializer::from_slice(&lines).into_iter();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_an_interrupted_run_has_measured_is_kept() {
    let folder = std::env::temp_dir().join(format!("mptcplab-interrupted-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut lab = Lab::with_paths(1, &[Path::new(10_000_000, 10 * MS)]);
    lab.bulk_for(Protocol::Tcp, Way::Up, 1000 * SECOND);
    lab.plan.capture = Some(Capture {
        folder: folder.clone(),
        interfaces: vec![InterfaceRef {
            node: 0,
            interface: 0,
        }],
        snap_length: 96,
    });
    let rows = interrupted(&lab);
    let transfer = rows
        .iter()
        .find(|row| row["record"] == "transfers")
        .unwrap();
    assert_eq!(transfer["error"], "interrupted");
    assert!(transfer["bytes"].as_u64().unwrap() > 0);
    assert_eq!(rows.last().unwrap()["record"], "done");
    assert_eq!(rows.last().unwrap()["interrupted"], true);
    let files = std::fs::read_dir(&folder).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(names, ["client-p0.pcapng"]);
}
