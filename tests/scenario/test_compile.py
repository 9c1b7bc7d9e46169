from mptcplab.engine.kernel.compile import compile_plan
from mptcplab.scenario import load


def test_the_initial_subflow_uses_the_first_interface_that_reaches_the_server():
    (flow,) = compile_plan(load("lisbon/A1"), "mptcp", seed=1)["traffic"]
    assert (flow["source"], flow["target"]) == ("10.0.1.1", "10.0.2.2")
    assert flow["expected_joins"] == 1


def test_via_chooses_the_interface_and_the_server_address_on_its_side():
    (flow,) = compile_plan(load("lisbon/A1"), "tcp-eth", seed=1)["traffic"]
    assert (flow["source"], flow["target"]) == ("10.0.3.1", "10.0.3.2")
    assert (flow["protocol"], flow["expected_joins"]) == ("tcp", 0)
