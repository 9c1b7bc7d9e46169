//! The whole way, from files to tables.

mod common;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use common::{Capture, Format, link, segment};
use mptcplab_trace::{AnalyseError, Request, analyse};
use parquet::file::reader::{FileReader, SerializedFileReader};

/// Tables of an analysis with rows of single packets.
const TABLES: [&str; 7] = [
    "addresses",
    "connections",
    "events",
    "mappings",
    "packets",
    "samples",
    "subflows",
];

/// Connections of the capture.
const CONNECTIONS: u32 = 7;

/// Data segments of each.
const SEGMENTS: u32 = 3000;

/// A folder of this test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mptcplab-analyse-{}-{name}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

/// Connections that take turns, more segments than several batches hold, over some seconds; some
/// data is sent again, and each end closes.
fn capture() -> Vec<u8> {
    let mut capture = Capture::new(Format::PCAPNG, link::ETHERNET);
    let mut at = 1_000_000_000;
    let mut add = |text: String| {
        at += 100_000;
        capture.add(at, &segment(&text));
    };
    let ends = |number| (format!("10.0.0.{number}:1000"), "10.0.1.1:80");
    for number in 1..=CONNECTIONS {
        let (client, server) = ends(number);
        add(format!("{client} > {server} S seq=0"));
        add(format!("{server} > {client} SA seq=0 ack=1"));
        add(format!("{client} > {server} A seq=1 ack=1"));
    }
    for index in 0..SEGMENTS {
        for number in 1..=CONNECTIONS {
            let (client, server) = ends(number);
            let sequence = 1 + 10 * (index - u32::from(index % 100 == 99));
            add(format!(
                "{client} > {server} PA seq={sequence} ack=1 len=10"
            ));
            if index % 2 == 1 {
                add(format!(
                    "{server} > {client} A seq=1 ack={}",
                    1 + 10 * index
                ));
            }
        }
    }
    for number in 1..=CONNECTIONS {
        let (client, server) = ends(number);
        add(format!(
            "{client} > {server} FA seq={} ack=1",
            1 + 10 * SEGMENTS
        ));
        add(format!(
            "{server} > {client} FA seq=1 ack={}",
            2 + 10 * SEGMENTS
        ));
    }
    capture.bytes
}

/// A request for the tables of `file` in `folder`.
fn request(file: &Path, folder: &Path, workers: usize) -> Request {
    Request {
        files: vec![file.to_owned()],
        folder: folder.to_owned(),
        packets: true,
        checksums: false,
        workers,
    }
}

fn rows(folder: &Path, table: &str) -> i64 {
    let file = fs::File::open(folder.join(format!("{table}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    reader.metadata().file_metadata().num_rows()
}

#[test]
fn the_tables_are_the_same_bytes_for_every_number_of_workers() {
    let folder = folder("workers");
    let file = folder.join("a.pcapng");
    fs::write(&file, capture()).unwrap();
    let mut of_one: Vec<Vec<u8>> = Vec::new();
    for workers in [1, 2, 3, 8] {
        let of = folder.join(workers.to_string());
        fs::create_dir_all(&of).unwrap();
        let capture = analyse(&request(&file, &of, workers), |_, _| {
            ControlFlow::Continue(())
        });
        let segments = capture.unwrap().segments;
        assert_eq!(rows(&of, "connections"), i64::from(CONNECTIONS));
        assert_eq!(rows(&of, "packets"), segments as i64);
        let read = |table| fs::read(of.join(format!("{table}.parquet"))).unwrap();
        let tables: Vec<_> = TABLES.map(read).into();
        if of_one.is_empty() {
            of_one = tables;
        } else {
            let differing = TABLES.iter().zip(of_one.iter().zip(&tables));
            let differing: Vec<_> = differing.filter(|(_, (one, other))| one != other).collect();
            let names: Vec<_> = differing.iter().map(|(name, _)| name).collect();
            assert!(names.is_empty(), "{workers} workers: {names:?}");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_was_read_before_an_interruption_is_analysed() {
    let folder = folder("interrupted");
    let file = folder.join("a.pcapng");
    fs::write(&file, capture()).unwrap();
    let mut told = Vec::new();
    let capture = analyse(&request(&file, &folder, 2), |done, of| {
        told.push((done, of));
        ControlFlow::Break(())
    })
    .unwrap();
    assert!(capture.interrupted);
    let bytes = fs::metadata(&file).unwrap().len();
    assert!(matches!(told[..], [(done, Some(of))] if 0 < done && done < of && of == bytes));
    assert_eq!(rows(&folder, "packets"), capture.segments as i64);
    let json = fs::read_to_string(folder.join("capture.json")).unwrap();
    assert!(json.contains("\"interrupted\":true"));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_is_no_capture_and_a_folder_that_is_not_there_are_told() {
    let folder = folder("refused");
    let file = folder.join("notes.txt");
    fs::write(&file, "not a capture at all").unwrap();
    let go_on = |_, _| ControlFlow::Continue(());
    let refused = analyse(&request(&file, &folder, 1), go_on);
    assert!(matches!(refused, Err(AnalyseError::Open(_))));
    fs::write(&file, capture()).unwrap();
    let refused = analyse(&request(&file, &folder.join("nowhere"), 1), go_on);
    assert!(matches!(refused, Err(AnalyseError::Table(_))));
    fs::remove_dir_all(folder).unwrap();
}
