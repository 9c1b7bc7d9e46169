//! Files as a reader finds them.

use std::fs::File;
use std::path::PathBuf;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use super::*;
use crate::Side;

/// A folder of this test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mptcplab-tables-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn event(number: u32) -> EventRow {
    EventRow {
        connection: number,
        subflow: number.checked_sub(1),
        from: number.is_multiple_of(2).then_some(Side::Server),
        t_ns: -1 + i64::from(number),
        frame: u64::MAX - u64::from(number),
        kind: "fin",
        text: format!("é{number}"),
    }
}

#[test]
fn rows_are_read_as_they_were_put_in_any_number() {
    let folder = folder("many");
    let mut table = Table::create(&folder).unwrap();
    let rows = 70_000;
    for number in 0..rows {
        table.put(event(number)).unwrap();
    }
    let path = folder.join("events.parquet");
    assert!(!path.exists(), "complete files only have their name");
    table.finish().unwrap();
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let mut count = 0;
    for (number, row) in (0..).zip(reader.get_row_iter(None).unwrap()) {
        let row = row.unwrap();
        let values: Vec<Field> = row
            .into_columns()
            .into_iter()
            .map(|(_, value)| value)
            .collect();
        let text = |text: &str| Field::Str(text.to_owned());
        let expected = [
            Field::UInt(number),
            number.checked_sub(1).map_or(Field::Null, Field::UInt),
            if number.is_multiple_of(2) {
                text("server")
            } else {
                Field::Null
            },
            Field::Long(-1 + i64::from(number)),
            Field::ULong(u64::MAX - u64::from(number)),
            text("fin"),
            text(&format!("é{number}")),
        ];
        assert_eq!(values, expected);
        count += 1;
    }
    assert_eq!(count, rows);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_table_without_rows_has_its_columns() {
    let folder = folder("none");
    Table::<AddressRow>::create(&folder)
        .unwrap()
        .finish()
        .unwrap();
    let file = File::open(folder.join("addresses.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<_> = schema
        .columns()
        .iter()
        .map(|column| column.name().to_owned())
        .collect();
    assert_eq!(names[..3], ["connection", "address", "end"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn fields_of_an_end_begin_with_its_name() {
    let mut fields = Vec::new();
    <ConnectionRow as file::Columns>::add("", &mut fields);
    let names: Vec<_> = fields.iter().map(file::Field::name).collect();
    assert!(names.contains(&"client_bytes") && names.contains(&"server_silence_at_ns"));
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let error = Table::<AddressRow>::create(&PathBuf::from("/nowhere"))
        .err()
        .unwrap();
    let text = error.to_string();
    assert!(
        text.starts_with("/nowhere/addresses.parquet: cannot be written: "),
        "{text}"
    );
}

#[test]
fn connections_are_renumbered_and_nothing_else() {
    let folder = folder("renumbered");
    let mut table = Table::create(&folder).unwrap();
    let rows = 70_000;
    for number in 0..rows {
        table.put(event(number % 7)).unwrap();
    }
    table.finish().unwrap();
    let path = folder.join("events.parquet");
    let read = || -> Vec<Vec<Field>> {
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        let values = rows.map(|row| row.unwrap().into_columns().into_iter());
        values
            .map(|row| row.map(|(_, value)| value).collect())
            .collect()
    };
    let before = read();
    let numbers = [3, 0, 6, 1, 2, 5, 4];
    renumber::<EventRow>(&folder, &numbers).unwrap();
    let expected = before.into_iter().map(|mut row| {
        let Field::UInt(number) = row[0] else {
            panic!("a number of a connection: {}", row[0]);
        };
        row[0] = Field::UInt(numbers[number as usize]);
        row
    });
    assert!(read().into_iter().eq(expected));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(folder).unwrap();
}
