//! Bytes delivered between losses, which OLIA judges paths by.

/// Bytes since the last loss, and between the last two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossInterval {
    pub(crate) since_bytes: u64,
    pub(crate) between_bytes: u64,
}

impl LossInterval {
    pub(crate) fn on_delivered(&mut self, bytes: u64) {
        self.since_bytes += bytes;
    }

    pub(crate) fn on_loss(&mut self) {
        self.between_bytes = core::mem::take(&mut self.since_bytes);
    }
}
