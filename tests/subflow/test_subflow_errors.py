"""The causes have the same names in every language."""

import re
from pathlib import Path

from mptcplab.subflow import SubflowError, errors

HEADER = Path(__file__).parents[2] / "crates/host/subflow-c/include/mptcplab_subflow.h"
OF_C_ALONE = {"invalid", "fault"}


def test_each_code_of_c_has_an_exception() -> None:
    codes = re.findall(r"MPTCPLAB_SUBFLOW_(\w+) = -\d+,", HEADER.read_text())
    kinds = {each.kind: each for each in SubflowError.__subclasses__()}
    assert {code.lower() for code in codes} - OF_C_ALONE == set(kinds)
    for kind, each in kinds.items():
        error = errors.typed("words", f'{{"kind": "{kind}"}}')
        assert (type(error), error.errno, str(error)) == (each, each.number, "words")
