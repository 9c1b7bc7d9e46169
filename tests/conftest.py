"""The state of the process that all tests count on, and which of them run side by side."""

import signal
from pathlib import Path

import pytest
from hypothesis import settings

_TESTS = Path(__file__).parent

# A shell starts its jobs in the background with Ctrl-C ignored, and so would be every program that
# a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# An example may take long beside other tests.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_MACHINE = (
    "broker",
    "campaign/test_campaign_kernel.py",
    "campaign/test_cluster_kernel.py",
    "cli/test_cli_path_manager.py",
    "cli/test_cli_shortage.py",
    "controller",
    "docs/test_docs_run.py",
    "engine",
    "explain/test_explain_proof.py",
    "measure/test_measure_agent_experiments.py",
    "measure/test_measure_agent_lab.py",
    "measure/test_measure_explained.py",
    "measure/test_measure_lab.py",
    "netcat",
    "openflow",
    "policy/test_policy_program.py",
    "server/test_server_chaos.py",
    "server/test_server_demo.py",
    "subflow",
    "trace/test_trace_live.py",
    "trace/test_trace_totals.py",
    "trace/test_trace_tshark.py",
)
"""Folders and files of tests that run on the kernel in real time, or look at the whole machine."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of the machine."""
    for item in items:
        file = item.path.relative_to(_TESTS)
        if any(file.is_relative_to(place) for place in _MACHINE):
            item.add_marker(pytest.mark.machine)
