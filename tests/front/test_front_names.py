"""The functions of the package are found whatever else was imported."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import mptcplab as lab
from mptcplab.recording import Recording
from mptcplab.recording.tables import TABLES

_EVERY_MODULE = """
import importlib, pkgutil
import mptcplab as lab
for found in pkgutil.walk_packages(lab.__path__, "mptcplab."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""
_EVERY_FUNCTION = """
import sys
from pathlib import Path
folder = Path(sys.argv[1])
scenario = lab.load("lisbon/A1")
assert lab.catalogue("lisbon/*")[0].name == "lisbon/A1"
short = dict(engine="sim", repeat=1, duration="200 ms")
result = lab.run(scenario, variants="mptcp", capture=True, out=folder / "one", **short)
assert lab.open(str(folder / "one"))["mptcp"][0].transfers.height == 1
assert lab.read_trace(list((folder / "one/mptcp/1").glob("*.pcapng"))).connections.height == 1
delays = {"links.eth.delay": ["1 ms"]}
points = lab.sweep(scenario, delays, samples=True, out=folder / "two", **short)
assert lab.compare(result, points[0].result).labels
"""


def test_every_function_works_after_every_module_was_imported(tmp_path: Path) -> None:
    asked = [sys.executable, "-c", _EVERY_MODULE + _EVERY_FUNCTION, str(tmp_path)]
    subprocess.run(asked, check=True)


def test_no_module_has_the_name_of_what_its_package_gives() -> None:
    packages = [lab]
    for found in pkgutil.walk_packages(lab.__path__, "mptcplab."):
        if found.ispkg:
            packages.append(importlib.import_module(found.name))
    for package in packages:
        modules = {found.name for found in pkgutil.iter_modules(package.__path__)}
        given = {name: getattr(package, name) for name in getattr(package, "__all__", ())}
        values = {name for name, value in given.items() if not isinstance(value, ModuleType)}
        assert not modules & values, package.__name__


def test_the_package_lists_its_functions() -> None:
    assert {"run", "load", "open", "catalogue", "read_trace", "sweep", "__version__"} <= set(
        dir(lab)
    )


def test_a_recording_has_a_property_for_each_table() -> None:
    told = {name for name, value in vars(Recording).items() if isinstance(value, property)}
    assert told - {"has_tables"} == set(TABLES)


def test_the_types_of_algorithms_are_public() -> None:
    from mptcplab import engine

    assert engine.SchedulerConnection.__name__ == "Connection"
    assert callable(engine.CongestionControl)
    assert engine.Scheduler is not None
