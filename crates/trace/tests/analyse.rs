//! The whole way, from files to tables.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use common::{Capture, Format, link, segment};
use mptcplab_trace::{AnalyseError, Request, analyse};
use mptcplab_wire::option::{Join, MptcpOption};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

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

/// Connections of which every second is a join that waits.
const WAITING: u32 = 6;

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

/// Calls `see` with each row of a table.
fn each_row(folder: &Path, table: &str, mut see: impl FnMut(&Row)) {
    let file = fs::File::open(folder.join(format!("{table}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    for row in reader.get_row_iter(None).unwrap() {
        see(&row.unwrap());
    }
}

/// The whole number in a column.
fn column(row: &Row, name: &str) -> i64 {
    let found = row.get_column_iter().find(|(each, _)| *each == name);
    match found.unwrap().1 {
        Field::UShort(number) => i64::from(*number),
        Field::UInt(number) => i64::from(*number),
        Field::ULong(number) => *number as i64,
        other => panic!("{name} is no whole number: {other}"),
    }
}

/// The text in a column.
fn text<'a>(row: &'a Row, name: &str) -> &'a str {
    let found = row.get_column_iter().find(|(each, _)| *each == name);
    match found.unwrap().1 {
        Field::Str(text) => text,
        other => panic!("{name} is no text: {other}"),
    }
}

fn rows(folder: &Path, table: &str) -> i64 {
    let file = fs::File::open(folder.join(format!("{table}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    reader.metadata().file_metadata().num_rows()
}

/// Asserts that the tables of a capture of so many connections are the same bytes for every number
/// of workers, and checks those in a folder.
fn same_for_all_workers(name: &str, capture: &[u8], connections: u32, check: impl Fn(&Path)) {
    let folder = folder(name);
    let file = folder.join("a.pcapng");
    fs::write(&file, capture).unwrap();
    let mut of_one: Vec<Vec<u8>> = Vec::new();
    for workers in [1, 2, 3, 8] {
        let of = folder.join(workers.to_string());
        fs::create_dir_all(&of).unwrap();
        let capture = analyse(&request(&file, &of, workers), |_, _| {
            ControlFlow::Continue(())
        });
        let segments = capture.unwrap().segments;
        assert_eq!(rows(&of, "connections"), i64::from(connections));
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
        check(&of);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_tables_are_the_same_bytes_for_every_number_of_workers() {
    same_for_all_workers("workers", &capture(), CONNECTIONS, |_| {});
}

/// Joins whose keys never come, and connections that begin while those wait, in turns; the ports
/// of their clients count up.
fn waiting_joins() -> Vec<u8> {
    let mut capture = Capture::new(Format::PCAPNG, link::ETHERNET);
    let ends = |number: u32| (format!("10.0.0.1:{}", 1000 + number), "10.0.1.1:80");
    let mut at = 1_000_000_000;
    for number in 0..WAITING {
        let (client, server) = ends(number);
        at += 100_000_000;
        let mut syn = segment(&format!("{client} > {server} S seq=0"));
        if number % 2 == 0 {
            syn.options.mptcp.push(MptcpOption::Join(Join::Syn {
                backup: false,
                address_id: 1,
                token: 7 + number,
                nonce: 9,
            }));
        }
        capture.add(at, &syn);
        capture.add(
            at + 1,
            &segment(&format!("{server} > {client} SA seq=0 ack=1")),
        );
    }
    for round in 0..1000 {
        for number in 0..WAITING {
            let (client, server) = ends(number);
            at += 1_000_000;
            let sequence = 1 + 10 * round;
            let text = format!("{client} > {server} PA seq={sequence} ack=1 len=10");
            capture.add(at, &segment(&text));
        }
    }
    capture.bytes
}

/// The numbers that tables give the connections, by the ports of their clients.
fn numbers_by_port(folder: &Path) -> BTreeMap<u16, u32> {
    let mut numbers = BTreeMap::new();
    each_row(folder, "connections", |row| {
        let (number, port) = (column(row, "connection"), column(row, "client_port"));
        numbers.insert(port as u16, number as u32);
    });
    numbers
}

#[test]
fn connections_are_numbered_by_their_first_packets() {
    let expected = |place: u32| (1000 + place as u16, place);
    same_for_all_workers("numbers", &waiting_joins(), WAITING, |folder| {
        let numbers = numbers_by_port(folder);
        assert_eq!(numbers, (0..WAITING).map(expected).collect());
        // The frames of the handshakes come first, two for each; data follow in turns.
        each_row(folder, "packets", |row| {
            let (number, frame) = (column(row, "connection"), column(row, "frame") - 1);
            let handshakes = 2 * i64::from(WAITING);
            let place = match frame < handshakes {
                true => frame / 2,
                false => (frame - handshakes) % i64::from(WAITING),
            };
            assert_eq!(number, place, "frame {}", frame + 1);
        });
        for table in ["samples", "events", "addresses", "subflows"] {
            let mut seen = BTreeMap::new();
            each_row(folder, table, |row| {
                *seen.entry(column(row, "connection")).or_insert(0) += 1;
            });
            let all: Vec<_> = seen.into_keys().collect();
            assert_eq!(all, (0..i64::from(WAITING)).collect::<Vec<_>>(), "{table}");
        }
        let mut opened = 0;
        each_row(folder, "events", |row| {
            if text(row, "kind") == "connection_opened" {
                let client = format!("10.0.0.1:{} > ", 1000 + column(row, "connection"));
                assert!(text(row, "text").starts_with(&client), "{row}");
                opened += 1;
            }
        });
        assert_eq!(opened, WAITING);
    });
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
