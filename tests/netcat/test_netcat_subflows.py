"""Subflows from other addresses: opened, accounted for, backups, and what cannot be opened."""

import json
import random
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.engine.system import needs_mptcp
from tests.netcat.programs import Netcat, digest
from tests.netcat.world import CLIENT, CLIENT6, PORT, SERVER, SERVER6, World, world

pytestmark = needs_mptcp
CONTENT = random.Random(5).randbytes(8_000_000)


@pytest.fixture
def carfi() -> Iterator[World]:
    with world() as made:
        made.limit("40mbit")
        yield made


def transfer(
    world: World,
    words: list[object],
    tmp_path: Path,
    target: str = SERVER[0],
    listening: Sequence[object] = (),
) -> tuple[dict[str, Any], str]:
    """Sends CONTENT; the client's account, and what it told."""
    listen = [*listening, "-l", "-p", PORT]
    server = Netcat(listen, tmp_path, prefix=world.server.prefix).listening()
    (tmp_path / "content").write_bytes(CONTENT)
    with (tmp_path / "content").open("rb") as source:
        client = Netcat(
            ["-N", "--json-file", "account", *words, target, PORT],
            tmp_path,
            stdin=source,
            prefix=world.client.prefix,
        )
    status, out, told_by_server = server.end()
    ended, _, told = client.end()
    assert (status, ended) == (0, 0), (told_by_server, told)
    assert digest(out) == digest(CONTENT)
    account: dict[str, Any] = json.loads((tmp_path / "account").read_text())
    assert account["bytes_sent"] == len(CONTENT)
    return account, told


def from_addresses(account: dict[str, Any]) -> list[str]:
    return [subflow["local"].rpartition(":")[0] for subflow in account["subflows"]]


def test_a_subflow_from_every_other_address(carfi: World, tmp_path: Path) -> None:
    # Neither has a way of its own to the server.
    carfi.client.run("ip addr add 10.0.9.6/24 dev eth1; ip addr add 169.254.1.6/16 dev eth2")
    account, told = transfer(carfi, ["-a"], tmp_path)
    assert sorted(from_addresses(account)) == sorted(CLIENT)
    assert from_addresses(account)[0] == CLIENT[0]
    for subflow in account["subflows"]:
        assert subflow["state"] == "open"
        assert subflow["complete"]
        assert subflow["share"] > 0.1
        assert subflow["rtt_us"] > 0
    sent = [subflow["bytes_sent"] for subflow in account["subflows"]]
    assert sum(sent) >= len(CONTENT)
    assert "subflow 1 from 10.0.1.6:" in told
    assert "share" in told


def test_without_a_wish_there_is_one_subflow(carfi: World, tmp_path: Path) -> None:
    account, _ = transfer(carfi, [], tmp_path)
    assert from_addresses(account) == [CLIENT[0]]
    assert account["subflows"][0]["bytes_sent"] == len(CONTENT)
    assert account["subflows"][0]["share"] == 1


def test_the_server_sees_the_subflows_too(carfi: World, tmp_path: Path) -> None:
    transfer(carfi, ["-a"], tmp_path, listening=["--json-file", "server.json"])
    account = json.loads((tmp_path / "server.json").read_text())
    assert len(account["subflows"]) == 3
    assert sum(subflow["bytes_received"] for subflow in account["subflows"]) >= len(CONTENT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_who_receives_ends_who_sends(
    number: signal.Signals, carfi: World, tmp_path: Path
) -> None:
    with Path("/dev/zero").open("rb") as zero:
        words = ["-l", "-p", PORT]
        server = Netcat(words, tmp_path, stdin=zero, prefix=carfi.server.prefix).listening()
        client = Netcat(
            ["-I", "eth1", SERVER[0], PORT],
            tmp_path,
            stdout=subprocess.DEVNULL,
            prefix=carfi.client.prefix,
        )
        client.wait_for("subflow 2 (eth1) from 10.0.2.6:")
        client.process.send_signal(number)
        assert client.end()[0] == 128 + number
        status, _, told = server.end()
    assert status == 1
    assert "connection reset by peer" in told


@pytest.mark.parametrize("closing", [[], ["-N"]])
def test_a_download_is_complete_only_if_its_subflows_have_all_of_it(
    closing: list[object], carfi: World, tmp_path: Path
) -> None:
    (tmp_path / "content").write_bytes(CONTENT)
    with (tmp_path / "content").open("rb") as source:
        words = ["-N", "-l", "-p", PORT]
        server = Netcat(words, tmp_path, stdin=source, prefix=carfi.server.prefix).listening()
        words = [*closing, "-a", "--json-file", "account", SERVER[0], PORT]
        client = Netcat(words, tmp_path, prefix=carfi.client.prefix)
        status, out, told = client.end()
        assert server.end()[0] == 0
    assert (status, digest(out)) == (0, digest(CONTENT)), told
    account = json.loads((tmp_path / "account").read_text())
    received = sum(subflow["bytes_received"] for subflow in account["subflows"])
    marks = [subflow["complete"] for subflow in account["subflows"]]
    assert received >= len(CONTENT) or not any(marks)


def test_wifi_and_cellular_of_the_configuration(carfi: World, tmp_path: Path) -> None:
    (tmp_path / "nc.yaml").write_text("wifi: 10.0.2.6\ncellular: eth2\n")
    account, _ = transfer(carfi, ["-W", "-C", "--config", "nc.yaml"], tmp_path)
    paths = {
        subflow["path"]: subflow["local"].rpartition(":")[0] for subflow in account["subflows"]
    }
    assert paths == {None: CLIENT[0], "wifi": CLIENT[1], "cellular": CLIENT[2]}


def test_a_backup_carries_next_to_nothing_while_another_works(carfi: World, tmp_path: Path) -> None:
    account, _ = transfer(carfi, ["-I", "eth1", "--backup", "eth2"], tmp_path)
    carried = {subflow["path"]: subflow["bytes_sent"] for subflow in account["subflows"]}
    # The kernel may send again what waits for an acknowledgement, on whichever is idle.
    assert carried["eth2"] < len(CONTENT) / 10 < carried["eth1"]


def test_ipv6(carfi: World, tmp_path: Path) -> None:
    account, _ = transfer(carfi, ["-a"], tmp_path, SERVER6)
    assert sorted(one.strip("[]") for one in from_addresses(account)) == sorted(CLIENT6)


def test_what_cannot_be_opened_is_told_and_the_transfer_goes_on(
    carfi: World, tmp_path: Path
) -> None:
    carfi.client.run("ip link set eth2 down")
    account, told = transfer(carfi, ["-I", "eth1", "-I", "eth2", "-I", "eth7"], tmp_path)
    assert from_addresses(account) == [CLIENT[0], CLIENT[1]]
    assert "no subflow over eth2: eth2 is not there, or down" in told
    assert "no subflow over eth7" in told


def test_a_path_without_answer_does_not_hold_up_the_transfer(carfi: World, tmp_path: Path) -> None:
    carfi.router.run("ip link set net2 down")
    account, _ = transfer(carfi, ["-a"], tmp_path)
    assert sorted(from_addresses(account)) == [CLIENT[0], CLIENT[2]]
    assert "eth1" not in [subflow["path"] for subflow in account["subflows"]]


def test_a_transfer_that_is_over_before_a_subflow_could_open_is_told(
    carfi: World, tmp_path: Path
) -> None:
    # The address that the first router forwards to answers no more.
    carfi.router.run("ip addr flush dev net2")
    account, told = transfer(carfi, ["-a"], tmp_path)
    assert CLIENT[1] not in from_addresses(account)
    assert "no subflow over eth1 (10.0.2.6): the transfer was over before" in told


def test_under_the_kernels_path_manager_the_mend_is_named(carfi: World, tmp_path: Path) -> None:
    carfi.client.run("echo kernel > /proc/sys/net/mptcp/path_manager")
    account, told = transfer(carfi, ["-a"], tmp_path)
    assert from_addresses(account) == [CLIENT[0]]
    assert "set net.mptcp.path_manager=userspace" in told


def test_a_peer_without_mptcp_is_told(carfi: World, tmp_path: Path) -> None:
    server = Netcat(["--tcp", "-l", PORT], tmp_path, prefix=carfi.server.prefix).listening()
    words = ["-N", "-a", SERVER[0], PORT]
    client = Netcat(words, tmp_path, stdin=subprocess.PIPE, prefix=carfi.client.prefix)
    told = client.wait_for("no subflows: ")
    assert re.search("fallen back to TCP|does not speak MPTCP", told)
    assert client.end(b"hello")[0] == 0
    assert server.end()[:2] == (0, b"hello")
