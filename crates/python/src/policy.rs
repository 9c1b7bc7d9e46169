//! A policy of the controller that is a function of Python.

use std::cell::RefCell;

use mptcplab_controller::{Flow, Link, PathView, Policy, Request};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::raised;

/// Answers of the function that are no place of a path.
const REFUSED: isize = -1;
const WAITS: isize = -2;

/// Addresses of source and destination, the protocol above IP, both ports.
type FlowTuple = (String, String, u8, u16, u16);
/// Datapath and port that send, datapath and port that receive.
type LinkTuple = (u64, u32, u64, u32);
/// Links, bandwidth, delay, queueing, load, subflows, new subflows, as [`PathView`] has them.
type PathTuple = (
    Vec<LinkTuple>,
    Option<u64>,
    Option<u64>,
    u64,
    u64,
    usize,
    usize,
);

thread_local! {
    /// The name and the function of the policy that the run of this thread asks.
    static SUPPLIED: RefCell<Option<(String, Py<PyAny>)>> = const { RefCell::new(None) };
}

/// Sets the policy that controllers of this thread have from now on.
pub(crate) fn supply(policy: Option<(String, Py<PyAny>)>) {
    SUPPLIED.set(policy);
}

/// The policy that is set, which gets the seed.
pub(crate) fn create(seed: u64) -> Box<dyn Policy> {
    let (name, choose) = SUPPLIED.take().unzip();
    Box::new(PythonPolicy {
        name: name.unwrap_or_default(),
        choose,
        seed,
        waits: false,
    })
}

/// Asks a function. Once it has raised something it is asked no more, and refuses everything.
struct PythonPolicy {
    name: String,
    choose: Option<Py<PyAny>>,
    seed: u64,
    /// Whether the last answer was to wait.
    waits: bool,
}

impl Policy for PythonPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn choose<'a>(&mut self, request: &Request<'a>) -> Option<&'a PathView> {
        self.waits = false;
        let choose = self.choose.as_ref().filter(|_| !raised::is_any())?;
        let answer = Python::attach(|py| ask(py, choose, self.seed, request));
        let answer = answer.unwrap_or_else(|error| {
            raised::keep(error);
            REFUSED
        });
        self.waits = answer == WAITS;
        let place = usize::try_from(answer).ok()?;
        let mut offered = request.disjoint.iter().chain(request.equal_cost);
        offered.nth(place)
    }

    fn waits(&self, _request: &Request<'_>) -> bool {
        self.waits
    }
}

/// The place of the path in the disjoint ones and then those of equal cost, or another answer.
fn ask(py: Python<'_>, choose: &Py<PyAny>, seed: u64, request: &Request<'_>) -> PyResult<isize> {
    let others = request.subflows.iter();
    let others: Vec<_> = others
        .map(|one| (flow(&one.flow), links(&one.links)))
        .collect();
    let paths = |of: &[PathView]| of.iter().map(path).collect::<Vec<_>>();
    let connection = (
        flow(&request.connection),
        request.is_multipath,
        request.bytes,
        request.carried_bytes,
        others,
        seed,
    );
    let subflow = (flow(&request.flow), request.is_moved);
    let (disjoint, equal_cost) = (paths(request.disjoint), paths(request.equal_cost));
    let count = disjoint.len() + equal_cost.len();
    let answer = choose.call1(py, (connection, subflow, disjoint, equal_cost))?;
    let answer: isize = answer.extract(py)?;
    let is_place = usize::try_from(answer).is_ok_and(|place| place < count);
    match is_place || [REFUSED, WAITS].contains(&answer) {
        true => Ok(answer),
        false => Err(PyValueError::new_err(format!(
            "{answer} is none of {count} paths"
        ))),
    }
}

fn flow(flow: &Flow) -> FlowTuple {
    (
        flow.source.to_string(),
        flow.destination.to_string(),
        flow.protocol,
        flow.source_port,
        flow.destination_port,
    )
}

fn links(links: &[Link]) -> Vec<LinkTuple> {
    let tuple = |link: &Link| {
        let (from, to) = (link.from, link.to);
        (from.datapath, from.port, to.datapath, to.port)
    };
    links.iter().map(tuple).collect()
}

fn path(view: &PathView) -> PathTuple {
    (
        links(&view.links),
        view.bandwidth_bps,
        view.delay_ns,
        view.queueing_ns,
        view.load_bps,
        view.subflows,
        view.new_subflows,
    )
}
