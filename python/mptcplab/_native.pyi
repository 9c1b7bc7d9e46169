"""The extension module: a thin Python face of the crates."""

from collections.abc import Callable
from typing import NoReturn

class SimulationError(Exception):
    """A plan that cannot be simulated; the message says why."""

def lab_main() -> NoReturn:
    """Run the plan that stands on the first line of standard input, and end the process."""

def simulate(plan_json: str, take: Callable[[bytes], bool]) -> None:
    """Run a plan in virtual time.

    `take` is given the rows of the recording as JSON lines, some at a time, the last one `done`.
    Where it returns false, or raises, the run ends there.

    Raises:
        SimulationError: the plan cannot be read, or asks for what there is not in the simulator.

    """
