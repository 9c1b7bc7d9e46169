"""The engines: what runs a variant of a scenario, and makes a recording of it.

Both are told the same plan (`compile`) and give the same rows (`docs/recording.md`). `kernel` runs
it on the real Linux stack, `sim` in virtual time on the stack of this project. What only one of
them can do is refused for the other before anything starts (`choice`).

    recording = run(load("lisbon/A1"), "mptcp", Path("out/by-hand"), engine="sim")

Names are loaded when they are first used, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mptcplab.engine.once import run
    from mptcplab.engine.task import EngineError

__all__ = ["EngineError", "run"]

_HOMES = {"run": "once", "EngineError": "task"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
