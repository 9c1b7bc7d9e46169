//! Values of a column that wait to be written.

use parquet::basic::Type as Physical;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

/// A column of rows that are not written yet.
pub(crate) struct Column {
    values: Values,
    /// 1 for a value, 0 for a null; empty where there are no nulls.
    levels: Vec<i16>,
}

enum Values {
    Bools(Vec<bool>),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Doubles(Vec<f64>),
    Bytes(Vec<ByteArray>),
}

impl Column {
    /// Creates an empty column.
    ///
    /// # Panics
    /// For a type that no `Cell` has.
    pub(crate) fn new(physical: Physical) -> Self {
        let values = match physical {
            Physical::BOOLEAN => Values::Bools(Vec::new()),
            Physical::INT32 => Values::Ints(Vec::new()),
            Physical::INT64 => Values::Longs(Vec::new()),
            Physical::DOUBLE => Values::Doubles(Vec::new()),
            Physical::BYTE_ARRAY => Values::Bytes(Vec::new()),
            other => panic!("no cell is stored as {other}"),
        };
        Self {
            values,
            levels: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn put_level(&mut self, there: bool) {
        self.levels.push(i16::from(there));
    }

    /// Writes the values into a file and forgets them.
    ///
    /// # Errors
    /// The file's.
    pub(crate) fn write(
        &mut self,
        file: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        let levels = (!self.levels.is_empty()).then_some(&self.levels[..]);
        match &mut self.values {
            Values::Bools(values) => {
                file.typed::<BoolType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Ints(values) => {
                file.typed::<Int32Type>()
                    .write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Longs(values) => {
                file.typed::<Int64Type>()
                    .write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Doubles(values) => {
                file.typed::<DoubleType>()
                    .write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Bytes(values) => {
                file.typed::<ByteArrayType>()
                    .write_batch(values, levels, None)?;
                values.clear();
            }
        }
        self.levels.clear();
        Ok(())
    }
}

/// Appends a value to a column of its type.
macro_rules! put {
    ($($name:ident, $variant:ident, $type:ty;)*) => {
        impl Column {$(
            #[inline]
            pub(crate) fn $name(&mut self, value: $type) {
                match &mut self.values {
                    Values::$variant(values) => values.push(value),
                    _ => unreachable!("a column is made for the type of its cells"),
                }
            }
        )*}
    };
}

put! {
    put_bool, Bools, bool;
    put_i32, Ints, i32;
    put_i64, Longs, i64;
    put_f64, Doubles, f64;
    put_bytes, Bytes, ByteArray;
}
