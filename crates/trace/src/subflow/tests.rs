//! Verdicts, compared with scripts of known transmissions and losses.

mod acknowledgements;
mod closing;
pub(super) mod dsl;
mod model;
mod numbers;
mod out_of_order;
mod properties;
mod repairs;
mod round_trips;
