//! The extension module `mptcplab._native`: a thin Python face of the crates.

use pyo3::prelude::*;

mod congestion;
mod control;
mod controller;
mod debug;
mod measure;
mod policy;
mod raised;
mod scheduler;
mod simulation;
mod subflow;
mod trace;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::congestion::{Ack, CongestionEvent, PathView, Window};
    #[pymodule_export]
    use super::control::{BpfError, HeldControl, hold_congestion_control};
    #[pymodule_export]
    use super::controller::{ControllerError, serve_controller};
    #[pymodule_export]
    use super::debug::{DebugSession, DebugSessionError};
    #[pymodule_export]
    use super::measure::{EndpointHold, MeasureError, MeasureSession, MeasureStopped};
    #[pymodule_export]
    use super::scheduler::{Connection, Subflow};
    #[pymodule_export]
    use super::simulation::{SimulationError, simulate};
    #[pymodule_export]
    use super::subflow::{
        SubflowManager, SubflowWatch, subflow_connection, subflow_ids, subflow_option,
        subflow_tuple,
    };
    #[pymodule_export]
    use super::trace::{TraceError, payloads, trace, write_frames};

    use super::*;

    /// Runs one plan, given as a line of JSON on standard input, and ends the process.
    ///
    /// Rows of the recording go to standard output. Call it in a process of its own that has
    /// started no thread.
    #[pyfunction]
    fn lab_main() {
        mptcplab_engine_kernel::run::main()
    }
}
