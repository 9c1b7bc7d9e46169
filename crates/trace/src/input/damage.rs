//! Damage that ends a file before its end.

use std::fmt;

/// From where on a file cannot be read, and why. All frames before it were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Place of the record that cannot be read: bytes from the beginning of the file; of a
    /// compressed one, of what it decompresses to.
    pub offset: u64,
    /// Whether `offset` counts decompressed bytes.
    pub decompressed: bool,
    /// Description of the damage.
    pub message: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if self.decompressed {
            " of what was compressed"
        } else {
            ""
        };
        write!(f, "at byte {}{of}: {}", self.offset, self.message)
    }
}
