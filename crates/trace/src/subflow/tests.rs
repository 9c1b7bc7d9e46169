//! What was sent and lost is known here: each verdict is compared with it.

mod acknowledgements;
mod closing;
pub(super) mod dsl;
mod late;
mod model;
mod numbers;
mod properties;
mod repairs;
mod round_trips;
