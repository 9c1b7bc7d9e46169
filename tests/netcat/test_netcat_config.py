"""The file that says which address is WiFi and which is cellular, and options about subflows."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.netcat.programs import Netcat

from mptcplab.cli.errors import UserError
from mptcplab.cli.netcat_paths import PathOptions, Policy, read_config, wishes

NONE = PathOptions(
    every=False,
    wifi=False,
    cellular=False,
    interfaces=(),
    backups=(),
    policy=Policy.ONCE,
    config=None,
)


def config(folder: Path, text: str) -> Path:
    file = folder / "nc.yaml"
    file.write_text(text)
    return file


def test_addresses_and_interfaces_are_read(tmp_path: Path) -> None:
    file = config(tmp_path, "# the car\nwifi: wlan0\ncellular: fd00:3:0::6\n")
    assert read_config(file) == {"wifi": "wlan0", "cellular": "fd00:3::6"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wifi: 10.0.2.6\nwfii: eth1\n", "nc.yaml:2: 'wfii' is not known: did you mean wifi?"),
        ("wifi: 10.0.2.300/24\n", "nc.yaml:1: wifi: an address of this host"),
        ("wifi: [eth1]\n", "nc.yaml:1: wifi: an address"),
        ("cellular: 3\n", "nc.yaml:1: cellular: an address"),
        ("wifi: an interface of long name\n", "nc.yaml:1: wifi: an address"),
        ("wifi: eth1\nwifi: eth2\n", "nc.yaml:2: wifi: given twice (first in line 1)"),
        ("- eth1\n", "write lines such as `wifi: 10.0.2.6`"),
        ("", "write lines such as"),
        ("wifi: {\n", "not valid YAML"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        read_config(config(tmp_path, text))
    assert said in str(raised.value)


@given(st.one_of(st.binary(max_size=400), st.text(max_size=400).map(lambda text: text.encode())))
def test_any_file_is_read_or_refused(content: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        with suppress(UserError):
            assert set(read_config(Path(file.name))) <= {"wifi", "cellular"}


def test_a_file_that_is_not_there_says_what_to_write(tmp_path: Path) -> None:
    status, _, told = Netcat(["-W", "localhost", 1], tmp_path).end()
    assert status == 1
    assert "mptcplab/nc.yaml: No such file or directory; write `wifi:`" in told
    assert "Traceback" not in told


def test_what_the_file_lacks_is_named(tmp_path: Path) -> None:
    options = PathOptions(**{**vars(NONE), "cellular": True, "config": config(tmp_path, "wifi: a")})
    with pytest.raises(UserError, match="no `cellular`: write cellular: with an address"):
        wishes(options)


def test_the_pivot_is_cellular_as_a_backup_unless_paths_are_named(tmp_path: Path) -> None:
    file = config(tmp_path, "wifi: wlan0\ncellular: rmnet0\n")
    pivot = {**vars(NONE), "policy": Policy.PIVOT}
    assert wishes(PathOptions(**{**pivot, "config": file})) == {
        "all": False,
        "follow": True,
        "paths": [
            {"name": "wifi", "from": "wlan0", "backup": False},
            {"name": "cellular", "from": "rmnet0", "backup": True},
        ],
    }
    named = PathOptions(**{**pivot, "interfaces": ("eth1",), "backups": ("eth2",)})
    assert wishes(named)["paths"] == [
        {"name": "eth1", "from": "eth1", "backup": False},
        {"name": "eth2", "from": "eth2", "backup": True},
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-a", "-l", "1"], "-l: the client opens the subflows"),
        (["-a", "--tcp", "localhost", "1"], "subflows: MPTCP only"),
        (["-z", "-I", "eth0", "localhost", "1"], "subflows: not of a scan"),
        (["-I", "a/b", "localhost", "1"], "-I a/b: an interface of this host"),
        (["-I", "eth1", "--backup", "eth1", "localhost", "1"], "eth1: asked for twice"),
    ],
)
def test_contradictions_are_named(words: list[str], said: str, tmp_path: Path) -> None:
    status, _, told = Netcat(words, tmp_path).end()
    assert status == 1
    assert said in told
