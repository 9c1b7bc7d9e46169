//! The pipeline.

mod addresses;
mod bins;
mod bursts;
mod rows;
