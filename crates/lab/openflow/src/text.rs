//! Text in a field of fixed length.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

/// Text in `N` bytes, filled up with zeros, the last of which always is one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// The text, cut at the end of a character where it is longer than `N` − 1 bytes, and before a
    /// zero byte.
    pub fn new(text: &str) -> Self {
        let text = text.split('\0').next().unwrap_or_default();
        let end = (0..N)
            .rev()
            .find(|&end| text.is_char_boundary(end))
            .unwrap_or(0);
        Self::read(&text.as_bytes()[..end.min(text.len())])
    }

    /// The bytes up to the first zero.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut text = [0; N];
        let used = bytes.iter().take(N - 1).take_while(|&&byte| byte != 0);
        for (place, byte) in text.iter_mut().zip(used) {
            *place = *byte;
        }
        Self(text)
    }

    pub(crate) fn bytes(&self) -> &[u8; N] {
        &self.0
    }

    /// The text; bytes that are no UTF-8 are replaced.
    pub fn as_str(&self) -> Cow<'_, str> {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(N);
        String::from_utf8_lossy(&self.0[..end])
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str())
    }
}
