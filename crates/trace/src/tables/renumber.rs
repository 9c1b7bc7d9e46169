//! A complete table whose connections get other numbers.

use std::fs::{self, File};
use std::path::Path;

use parquet::column::reader::get_typed_column_reader;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::Int32Type;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::file::{Row, TableError, part, properties, table_path};

/// The column that is replaced; all others are copied as they are.
const COLUMN: &str = "connection";

/// Replaces each number of a connection in a complete table in `folder` by its entry in `numbers`.
/// Rows stay where they are; one group of them is held at a time.
///
/// # Errors
/// The file system's.
pub(crate) fn renumber<R: Row>(folder: &Path, numbers: &[u32]) -> Result<(), TableError> {
    let path = table_path::<R>(folder);
    copy(&path, numbers)
        .and_then(|()| Ok(fs::rename(part(&path), &path)?))
        .map_err(|error| TableError::new(&path, error))
}

/// Writes the renumbered table beside the one in `path`.
fn copy(path: &Path, numbers: &[u32]) -> Result<(), ParquetError> {
    let file = File::open(path)?;
    let reader = SerializedFileReader::new(file.try_clone()?)?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    let properties = properties(&schema);
    let mut writer = SerializedFileWriter::new(File::create(part(path))?, schema, properties)?;
    for (place, group) in metadata.row_groups().iter().enumerate() {
        let mut copied = writer.next_row_group()?;
        let rows = reader.get_row_group(place)?;
        copy_group(&file, group, &*rows, numbers, &mut copied)?;
        copied.close()?;
    }
    writer.close()?;
    Ok(())
}

fn copy_group(
    file: &File,
    group: &RowGroupMetaData,
    rows: &dyn RowGroupReader,
    numbers: &[u32],
    copied: &mut SerializedRowGroupWriter<'_, File>,
) -> Result<(), ParquetError> {
    for (place, column) in group.columns().iter().enumerate() {
        if column.column_descr().name() == COLUMN {
            let mut values = Vec::new();
            let mut read = get_typed_column_reader::<Int32Type>(rows.get_column_reader(place)?);
            read.read_records(group.num_rows() as usize, None, None, &mut values)?;
            for value in &mut values {
                *value = numbers[*value as usize] as i32;
            }
            let mut file = copied
                .next_column()?
                .expect("a column for each that is read");
            file.typed::<Int32Type>().write_batch(&values, None, None)?;
            file.close()?;
        } else {
            let whole = ColumnCloseResult {
                bytes_written: column.compressed_size() as u64,
                rows_written: group.num_rows() as u64,
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            copied.append_column(file, whole)?;
        }
    }
    Ok(())
}
