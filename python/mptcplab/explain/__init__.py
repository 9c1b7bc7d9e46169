"""Why MPTCP was as slow as it was: where the time went, causes and their cost, tried remedies."""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.explain.explanation import Cause, Explanation, Remedy, explain

__all__ = ["Cause", "Explanation", "Remedy", "explain"]

__getattr__ = lazy.names(
    __name__,
    {
        "Cause": "explanation",
        "Explanation": "explanation",
        "Remedy": "explanation",
        "explain": "explanation",
    },
)
