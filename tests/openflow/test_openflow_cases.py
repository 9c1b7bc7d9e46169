"""Files of tests that are not as they should be."""

from pathlib import Path
from random import Random

import pytest

pytest.importorskip("os_ken")

from tests.openflow import cases
from tests.openflow.frames import frame

_WITH = '[{"description": "d", "prerequisite": [], "tests": [{"ingress": ["LAYER"]}]}]'


@pytest.mark.parametrize(
    "layer",
    [
        "__import__('os').system('true')",
        "ethernet.__class__",
        "ethernet(dst=open('/etc/passwd'))",
        "ethernet(colour=1)",
        "ethernet(",
        "[1 for _ in ()]",
    ],
)
def test_a_layer_is_a_call_of_a_known_header(layer: str) -> None:
    with pytest.raises(ValueError, match="no layer of a packet: "):
        frame([layer], Random(0))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no list of tests in JSON"),
        ('[{"description": "d"}]', "d: KeyError('prerequisite')"),
        ('[{"description": "d", "prerequisite": [{"OFPNothing": {}}], "tests": []}]', "OFPNothing"),
        (
            _WITH.replace("LAYER", "icmp("),
            "no layer of a packet: icmp(",
        ),
        (
            _WITH.replace("LAYER", "ipv4(src='x')"),
            "AddrFormatError",
        ),
    ],
)
def test_the_file_and_the_test_are_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(ValueError, match=r"odd\.json") as raised:
        list(cases.read(tmp_path))
    assert said in str(raised.value)


def test_a_folder_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no files"):
        list(cases.read(tmp_path))
