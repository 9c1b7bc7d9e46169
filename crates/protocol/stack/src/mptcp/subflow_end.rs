//! The end of a subflow, step by step.

/// How far the end of a subflow has come. No step is taken back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SubflowEnd {
    /// It was closed here, at the level of TCP.
    closing: bool,
    /// It was left to TCP to bring it to its end.
    orphaned: bool,
    /// The application was told that it is closed.
    told: bool,
    /// One end has closed it as its path will not do for MPTCP.
    path_is_unfit: bool,
}

impl SubflowEnd {
    /// Notes that the subflow is closed here.
    pub(super) fn close(&mut self) {
        self.closing = true;
    }

    /// Whether the subflow was closed here.
    #[inline]
    pub(super) fn is_closing(&self) -> bool {
        self.closing
    }

    /// Leaves the subflow to TCP. True the first time.
    pub(super) fn orphan(&mut self) -> bool {
        !core::mem::replace(&mut self.orphaned, true)
    }

    /// Notes that the application is told. True the first time.
    pub(super) fn tell(&mut self) -> bool {
        !core::mem::replace(&mut self.told, true)
    }

    /// Notes that the path will not do for MPTCP.
    pub(super) fn give_path_up(&mut self) {
        self.path_is_unfit = true;
    }

    /// Whether the path will not do for MPTCP.
    pub(super) fn path_is_unfit(&self) -> bool {
        self.path_is_unfit
    }
}
