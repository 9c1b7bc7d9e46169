//! Values of a row as values of a column.

use std::net::IpAddr;

use parquet::basic::{LogicalType, Type as Physical};
use parquet::data_type::ByteArray;

use super::column::Column;
use crate::{Kind, RttMethod, Side};

/// A value that a column can hold.
pub(crate) trait Cell {
    /// How Parquet stores it.
    const PHYSICAL: Physical;
    /// May be null.
    const OPTIONAL: bool = false;

    /// Returns its kind.
    fn logical() -> Option<LogicalType>;

    /// Appends it to a column made for its type.
    fn put(self, column: &mut Column);
}

impl<T: Cell> Cell for Option<T> {
    const PHYSICAL: Physical = T::PHYSICAL;
    const OPTIONAL: bool = true;

    fn logical() -> Option<LogicalType> {
        T::logical()
    }

    fn put(self, column: &mut Column) {
        column.put_level(self.is_some());
        if let Some(value) = self {
            value.put(column);
        }
    }
}

/// Integers that fit into one that Parquet stores.
macro_rules! integer {
    ($($type:ty, $physical:ident as $stored:ty, $put:ident, $bits:literal, $signed:literal;)*) => {$(
        impl Cell for $type {
            const PHYSICAL: Physical = Physical::$physical;

            fn logical() -> Option<LogicalType> {
                Some(LogicalType::integer($bits, $signed))
            }

            #[inline]
            fn put(self, column: &mut Column) {
                column.$put(self as $stored);
            }
        }
    )*};
}

integer! {
    u8, INT32 as i32, put_i32, 8, false;
    u16, INT32 as i32, put_i32, 16, false;
    u32, INT32 as i32, put_i32, 32, false;
    u64, INT64 as i64, put_i64, 64, false;
    i64, INT64 as i64, put_i64, 64, true;
}

impl Cell for bool {
    const PHYSICAL: Physical = Physical::BOOLEAN;

    fn logical() -> Option<LogicalType> {
        None
    }

    #[inline]
    fn put(self, column: &mut Column) {
        column.put_bool(self);
    }
}

impl Cell for f64 {
    const PHYSICAL: Physical = Physical::DOUBLE;

    fn logical() -> Option<LogicalType> {
        None
    }

    #[inline]
    fn put(self, column: &mut Column) {
        column.put_f64(self);
    }
}

/// Text, by what turns a value into bytes.
macro_rules! text {
    ($($type:ty, $value:ident => $bytes:expr;)*) => {$(
        impl Cell for $type {
            const PHYSICAL: Physical = Physical::BYTE_ARRAY;

            fn logical() -> Option<LogicalType> {
                Some(LogicalType::String)
            }

            fn put(self, column: &mut Column) {
                let $value = self;
                column.put_bytes($bytes);
            }
        }
    )*};
}

text! {
    String, text => ByteArray::from(text.into_bytes());
    &'static str, text => ByteArray::from(bytes::Bytes::from_static(text.as_bytes()));
    IpAddr, address => ByteArray::from(address.to_string().into_bytes());
}

/// Words that stand for values.
macro_rules! words {
    ($($type:ty { $($value:pat => $word:literal,)* })*) => {$(
        impl $type {
            /// Returns the word in the tables.
            pub fn word(self) -> &'static str {
                match self {
                    $($value => $word,)*
                }
            }
        }

        impl Cell for $type {
            const PHYSICAL: Physical = Physical::BYTE_ARRAY;

            fn logical() -> Option<LogicalType> {
                Some(LogicalType::String)
            }

            fn put(self, column: &mut Column) {
                self.word().put(column);
            }
        }
    )*};
}

words! {
    Side {
        Side::Client => "client",
        Side::Server => "server",
    }
    Kind {
        Kind::Acknowledgement => "acknowledgement",
        Kind::New => "new",
        Kind::FastRetransmission => "fast_retransmission",
        Kind::TimeoutRetransmission => "timeout_retransmission",
        Kind::OutOfOrder => "out_of_order",
        Kind::KeepAlive => "keep_alive",
        Kind::WindowProbe => "window_probe",
        Kind::NotAcceptable => "not_acceptable",
        Kind::Duplicate => "duplicate",
    }
    RttMethod {
        RttMethod::Timestamp => "timestamp",
        RttMethod::Karn => "karn",
    }
}
