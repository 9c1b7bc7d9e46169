//! One table as a file.

use std::fmt;
use std::fs::{self, File};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use super::cell::Cell;
use super::column::Column;

/// Rows that are kept before they are written together.
const ROWS_TOGETHER: usize = 1 << 15;

/// Something that fills columns of a table: a value one, a structure one for each of its fields.
pub(crate) trait Columns {
    /// Adds its columns. `name` is that of a value; of a structure it is the beginning of the names
    /// of its fields.
    fn add(name: &str, fields: &mut Vec<Field>);

    /// Appends it to its columns.
    fn put(self, columns: &mut slice::IterMut<'_, Column>);
}

/// A row of a table.
pub(crate) trait Row: Columns {
    /// Name of the table.
    const TABLE: &'static str;
}

/// A column: its type and its values.
pub(crate) struct Field {
    kind: Type,
    column: Column,
}

#[cfg(test)]
impl Field {
    /// Returns the name of the column.
    pub(crate) fn name(&self) -> &str {
        self.kind.name()
    }
}

impl<T: Cell> Columns for T {
    fn add(name: &str, fields: &mut Vec<Field>) {
        let repetition = match T::OPTIONAL {
            true => Repetition::OPTIONAL,
            false => Repetition::REQUIRED,
        };
        let kind = Type::primitive_type_builder(name, T::PHYSICAL)
            .with_repetition(repetition)
            .with_logical_type(T::logical())
            .build()
            .expect("the logical types of cells fit their physical ones");
        fields.push(Field {
            kind,
            column: Column::new(T::PHYSICAL),
        });
    }

    #[inline]
    fn put(self, columns: &mut slice::IterMut<'_, Column>) {
        let column = columns.next().expect("a column for each value");
        Cell::put(self, column);
    }
}

/// A table that is being written. Its file has another name until it is complete.
pub(crate) struct Table<R> {
    path: PathBuf,
    file: SerializedFileWriter<File>,
    columns: Vec<Column>,
    rows: usize,
    row: PhantomData<fn(R)>,
}

impl<R: Row> Table<R> {
    /// Creates an empty table in `folder`.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn create(folder: &Path) -> Result<Self, TableError> {
        let path = table_path::<R>(folder);
        let failed = |error| TableError::new(&path, error);
        let file = File::create(part(&path)).map_err(|error| failed(error.into()))?;
        let mut fields = Vec::new();
        R::add("", &mut fields);
        let (kinds, columns) = fields
            .into_iter()
            .map(|field| (Arc::new(field.kind), field.column))
            .unzip();
        let schema = Type::group_type_builder(R::TABLE)
            .with_fields(kinds)
            .build()
            .map_err(failed)?;
        let properties = properties(&schema);
        let file = SerializedFileWriter::new(file, Arc::new(schema), properties).map_err(failed)?;
        Ok(Self {
            path,
            file,
            columns,
            rows: 0,
            row: PhantomData,
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn put(&mut self, row: R) -> Result<(), TableError> {
        row.put(&mut self.columns.iter_mut());
        self.rows += 1;
        if self.rows == ROWS_TOGETHER {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TableError> {
        self.rows = 0;
        self.write_group()
            .map_err(|error| TableError::new(&self.path, error))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let mut file = group
                .next_column()?
                .expect("a column for each of the schema");
            column.write(&mut file)?;
            file.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// The file system's.
    pub(crate) fn finish(mut self) -> Result<(), TableError> {
        if self.rows > 0 {
            self.flush()?;
        }
        let path = self.path;
        self.file
            .close()
            .and_then(|_| Ok(fs::rename(part(&path), &path)?))
            .map_err(|error| TableError::new(&path, error))
    }
}

/// Returns where a table stands in `folder`.
pub(super) fn table_path<R: Row>(folder: &Path) -> PathBuf {
    folder.join(format!("{}.parquet", R::TABLE))
}

/// Returns how tables of a schema are written. Whole numbers stand as differences: they grow, or stay
/// near each other, so that this takes less room than a dictionary, and less time to make.
pub(super) fn properties(schema: &Type) -> Arc<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for field in schema.get_fields() {
        if matches!(field.get_physical_type(), Physical::INT32 | Physical::INT64) {
            let column = ColumnPath::from(field.name());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    Arc::new(properties.build())
}

/// Returns the name of a file that is not complete.
pub(super) fn part(path: &Path) -> PathBuf {
    path.with_extension("parquet.part")
}

/// A table that could not be written.
#[derive(Debug)]
pub struct TableError {
    path: PathBuf,
    why: ParquetError,
}

impl TableError {
    pub(super) fn new(path: &Path, why: ParquetError) -> Self {
        Self {
            path: path.to_owned(),
            why,
        }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: cannot be written: {}",
            self.path.display(),
            self.why
        )
    }
}

impl std::error::Error for TableError {}

/// Makes structures of columns. One with a table's name behind it is a row of that.
macro_rules! columns {
    ($(
        $(#[$attribute:meta])*
        $name:ident $(in $table:literal)? {
            $($(#[$field_attribute:meta])* $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[$attribute])*
        pub(crate) struct $name {
            $($(#[$field_attribute])* pub(crate) $field: $type,)*
        }

        impl $crate::tables::file::Columns for $name {
            fn add(name: &str, fields: &mut Vec<$crate::tables::file::Field>) {
                let before = if name.is_empty() { String::new() } else { format!("{name}_") };
                $(<$type as $crate::tables::file::Columns>::add(
                    &format!("{before}{}", stringify!($field)),
                    fields,
                );)*
            }

            fn put(self, columns: &mut std::slice::IterMut<'_, $crate::tables::column::Column>) {
                $($crate::tables::file::Columns::put(self.$field, columns);)*
            }
        }

        $(impl $crate::tables::file::Row for $name {
            const TABLE: &'static str = $table;
        })?
    )*};
}

pub(super) use columns;
