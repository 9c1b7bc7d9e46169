"""Why MPTCP was as slow as it was: where the time went, causes and their cost, tried remedies."""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.explanation.explaining import explain_recording
    from mptcplab.explanation.of_result import explain_and_keep, explain_result
    from mptcplab.explanation.told import (
        Cause,
        Change,
        ConnectionAccount,
        Explanation,
        Proof,
        Refused,
        Remedy,
    )

__all__ = [
    "Cause",
    "Change",
    "ConnectionAccount",
    "Explanation",
    "Proof",
    "Refused",
    "Remedy",
    "explain_and_keep",
    "explain_recording",
    "explain_result",
]

__getattr__ = lazy.names(
    __name__,
    {
        "Cause": "told",
        "Change": "told",
        "ConnectionAccount": "told",
        "Explanation": "told",
        "Proof": "told",
        "Refused": "told",
        "Remedy": "told",
        "explain_and_keep": "of_result",
        "explain_recording": "explaining",
        "explain_result": "of_result",
    },
)
