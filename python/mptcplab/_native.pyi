"""The extension module: a thin Python face of the crates."""

from typing import NoReturn

def lab_main() -> NoReturn:
    """Run the plan that stands on the first line of standard input, and end the process."""
