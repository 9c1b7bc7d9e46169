//! Ends without notice, full disks, and caps.

use std::fs;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const CAPS: Caps = Caps {
    size_bytes: 1_000,
    age: Duration::from_secs(1_000),
};

fn open(folder: &Path) -> Store {
    Store::open(folder, CAPS).unwrap()
}

fn add(store: &mut Store, bytes: usize) -> Result<(), Error> {
    store.add(None, |sequence| {
        (format!("id-{sequence}"), vec![b' '; bytes])
    })
}

fn sequences(store: &Store) -> Vec<u64> {
    store.spool.waiting().map(|entry| entry.sequence).collect()
}

#[test]
fn numbers_have_no_gaps_whatever_was_written_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    add(&mut store, 10).unwrap();
    let before = fs::read(folder.path().join(LEDGER)).unwrap();
    add(&mut store, 10).unwrap();
    drop(store);
    // The end came after the result, and before the account.
    fs::write(folder.path().join(LEDGER), before).unwrap();
    let mut store = open(folder.path());
    add(&mut store, 10).unwrap();
    assert_eq!(sequences(&store), [0, 1, 2]);
    // An empty spool is no reason to begin anew.
    for entry in store.spool.waiting().cloned().collect::<Vec<_>>() {
        store.remove(&entry).unwrap();
    }
    drop(store);
    assert_eq!(open(folder.path()).ledger.next_sequence, 3);
}

#[test]
fn what_is_dropped_counts_once_also_where_the_end_comes_between() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    for _ in 0..4 {
        add(&mut store, 300).unwrap();
    }
    assert_eq!(sequences(&store), [1, 2, 3]);
    assert_eq!(store.ledger.dropped.size, 1);
    // Counted, and not yet removed.
    store.ledger.dropped.size += 1;
    store.ledger.dropping = store.spool.names(0..1);
    store.save().unwrap();
    drop(store);
    let store = open(folder.path());
    assert_eq!(sequences(&store), [2, 3]);
    assert_eq!(store.ledger.dropped.size, 2);
    assert_eq!(store.ledger.next_sequence, 4);
}

#[test]
fn a_result_that_cannot_be_written_is_dropped_and_the_next_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    add(&mut store, 10).unwrap();
    let told = add(&mut store, 2_000).unwrap_err().to_string();
    assert!(told.contains("larger than the spool"), "{told}");
    // A folder is in the way of the file.
    let in_the_way = folder.path().join("spool/000000000002-id-2.new");
    fs::create_dir(&in_the_way).unwrap();
    add(&mut store, 10).unwrap_err();
    add(&mut store, 10).unwrap();
    assert_eq!(sequences(&store), [0, 3]);
    assert_eq!(store.ledger.dropped.size, 2);
}

#[test]
fn room_is_kept_for_the_account() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    store.save().unwrap();
    let reserve = folder.path().join(RESERVE);
    assert_eq!(reserve.metadata().unwrap().len(), RESERVE_BYTES as u64);
    // It cannot be written, as if the disk were full.
    let in_the_way = folder.path().join("ledger.new");
    fs::create_dir(&in_the_way).unwrap();
    store.save().unwrap_err();
    assert!(!reserve.exists());
    fs::remove_dir(&in_the_way).unwrap();
    store.save().unwrap();
    store.save().unwrap();
    assert!(reserve.exists());
}

#[test]
fn the_latest_result_stays_until_its_number_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    // A folder is in the way of the account.
    let in_the_way = folder.path().join("ledger.new");
    fs::create_dir(&in_the_way).unwrap();
    add(&mut store, 10).unwrap_err();
    add(&mut store, 10).unwrap_err();
    let entries: Vec<_> = store.spool.waiting().cloned().collect();
    store.remove(&entries[0]).unwrap_err();
    store.remove(&entries[1]).unwrap_err();
    assert_eq!(sequences(&store), [1]);
    drop(store);
    let mut store = open(folder.path());
    assert_eq!(store.ledger.next_sequence, 2);
    fs::remove_dir(&in_the_way).unwrap();
    store.remove(&entries[1]).unwrap();
    drop(store);
    assert_eq!(open(folder.path()).ledger.next_sequence, 2);
}

#[test]
fn what_is_old_is_dropped_where_the_time_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let utc_s = 1_800_000_000;
    store
        .add(Some(utc_s), |_| ("a".to_owned(), b"{}".to_vec()))
        .unwrap();
    store.drop_old(0, None).unwrap();
    store.drop_old(0, Some(utc_s + 1_000)).unwrap();
    assert_eq!(sequences(&store), [0]);
    store.drop_old(0, Some(utc_s + 1_001)).unwrap();
    assert_eq!(sequences(&store), [0; 0]);
    assert_eq!(
        (store.ledger.dropped.age, store.ledger.dropped.size),
        (1, 0)
    );
}

#[test]
fn a_folder_is_its_owners_alone_or_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mode = |mode| fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
    mode(0o755);
    fs::write(folder.path().join("other"), "").unwrap();
    let told = Store::open(folder.path(), CAPS).err().unwrap().to_string();
    assert!(told.contains("chmod 700"), "{told}");
    fs::remove_file(folder.path().join("other")).unwrap();
    for _ in ["empty", "an agent's"] {
        drop(open(folder.path()));
        let kept = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(kept & 0o777, 0o700);
        mode(0o755);
    }
}

#[test]
fn a_folder_has_one_agent_and_its_files_are_of_agents() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let told = Store::open(folder.path(), CAPS).err().unwrap().to_string();
    assert!(told.ends_with("another agent has this folder"), "{told}");
    fs::write(folder.path().join(IDENTITY), "{").unwrap();
    let told = store.identity().err().unwrap().to_string();
    assert!(
        told.ends_with("is no file of an agent: remove it"),
        "{told}"
    );
    drop(store);
    fs::write(folder.path().join(LEDGER), "{\"next").unwrap();
    assert!(Store::open(folder.path(), CAPS).is_err());
}

#[test]
fn an_enrolment_has_one_secret_until_the_agent_is_enrolled() {
    let folder = tempfile::tempdir().unwrap();
    let enrolment = |letter: &str| Enrolment {
        server: Server {
            url: "https://host".to_owned(),
            fingerprint: Some("00".repeat(32)),
        },
        secret: letter.repeat(43),
    };
    let store = open(folder.path());
    let first = store.own_secret(&enrolment("a")).unwrap();
    assert_eq!(first.len(), 43);
    drop(store);
    let store = open(folder.path());
    assert_eq!(store.own_secret(&enrolment("a")).unwrap(), first);
    let other = store.own_secret(&enrolment("b")).unwrap();
    assert_ne!(other, first);
    let identity = Identity {
        server: enrolment("b").server,
        agent: "a".to_owned(),
        secret: other,
    };
    store.set_identity(&identity).unwrap();
    assert!(!folder.path().join(ENROLLING).exists());
}

#[test]
fn plans_and_identity_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    assert!(store.identity().unwrap().is_none());
    assert_eq!(store.plans(), KeptPlans::default());
    let identity = Identity {
        server: Server {
            url: "https://host".to_owned(),
            fingerprint: Some("00".repeat(32)),
        },
        agent: "a".to_owned(),
        secret: "s".to_owned(),
    };
    store.set_identity(&identity).unwrap();
    let plans = KeptPlans {
        etag: Some("\"1\"".to_owned()),
        plans: vec![Value::Null],
    };
    store.set_plans(&plans).unwrap();
    drop(store);
    let store = open(folder.path());
    assert!(store.identity().unwrap() == Some(identity));
    assert_eq!(store.plans(), plans);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Each result is there, was sent, or is counted.
    #[test]
    fn no_result_is_lost_without_being_counted(
        work in vec((0_usize..1_200, any::<bool>(), any::<bool>()), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        let mut sent = 0;
        for (bytes, is_sent, is_restarted) in work.iter().copied() {
            let _ = add(&mut store, bytes);
            let first = store.spool.waiting().next().cloned();
            if let Some(first) = first.filter(|_| is_sent) {
                store.remove(&first).unwrap();
                sent += 1;
            }
            if is_restarted {
                drop(store);
                store = open(folder.path());
            }
        }
        let there = store.spool.waiting().count() as u64;
        prop_assert_eq!(there + sent + store.ledger.dropped.size, work.len() as u64);
        prop_assert_eq!(store.ledger.next_sequence, work.len() as u64);
    }
}
