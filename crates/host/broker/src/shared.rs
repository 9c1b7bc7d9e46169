//! Settings and journal, shared by all threads of the broker.

use std::sync::Arc;

use crate::backend::Options;
use crate::journal::Journal;
use crate::limits::Limits;
use crate::policy::Policy;

/// Settings and journal, shared by all threads of the broker.
pub(crate) struct Shared {
    pub(crate) policy: Arc<Policy>,
    pub(crate) limits: Limits,
    pub(crate) journal: Journal,
    pub(crate) options: Options,
}
