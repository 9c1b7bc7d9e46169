"""The captures that are made by hand are what they claim: tshark reads them without complaint."""

from pathlib import Path

import pytest
from tests.trace import shark
from tests.trace.handmade import captures
from tests.trace.handmade.talks import TALKS

pytestmark = pytest.mark.skipif(
    shark.tshark_missing() is not None, reason=str(shark.tshark_missing())
)
_FIRST_SEEN = "middle"
"""Of this one tshark does not know where the numbers begin."""


@pytest.mark.parametrize("name", TALKS)
def test_tshark_reads_what_was_meant(name: str, tmp_path: Path) -> None:
    talk = TALKS[name]()
    file = captures.write(tmp_path / f"{name}.pcapng", captures.pcapng(talk.frames))
    rows = shark.read(file)
    assert len(rows) == len(talk.truths)
    columns = ["t_ns", "payload_bytes", "packet_bytes", "ecn"]
    columns += [] if name == _FIRST_SEEN else ["sequence", "acknowledgement"]
    for row, truth in zip(rows, talk.truths, strict=True):
        assert not row["faulty"]
        assert row["checksums_good"]
        ignored = truth["kind"] == "not_acceptable"
        told = [each for each in columns if truth[each] is not None or not ignored]
        assert {each: row[each] for each in told} == {each: truth[each] for each in told}
