"""The engines: what runs a variant of a scenario, and makes a recording of it.

Both are told the same plan (`compile`) and give the same rows (`docs/recording.md`). `kernel` runs
it on the real Linux stack, `sim` in virtual time on the stack of this project. What only one of
them can do is refused for the other before anything starts (`choice`).

    recording = run(load("lisbon/A1"), "mptcp", Path("out/by-hand"), engine="sim")
"""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.engine.once import run
    from mptcplab.engine.task import EngineError

__all__ = ["EngineError", "run"]

__getattr__ = lazy.names(__name__, {"run": "once", "EngineError": "task"})
