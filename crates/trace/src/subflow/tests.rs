//! What was sent and lost is known here: each verdict is compared with it.

mod acknowledgements;
mod closing;
mod dsl;
mod late;
mod numbers;
mod repairs;
mod round_trips;
