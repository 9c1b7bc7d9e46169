"""The car's policy: WiFi comes and goes, cellular stays, and the transfer never breaks."""

import json
import random
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.system import needs_mptcp
from tests.netcat.programs import Netcat, digest
from tests.netcat.world import CLIENT, PORT, SERVER, World, world

pytestmark = needs_mptcp
CONTENT = random.Random(6).randbytes(1_500_000)
ETH0, WIFI, CELLULAR = range(3)


@pytest.fixture
def carfi() -> Iterator[World]:
    with world() as made:
        made.limit("20mbit")
        yield made


class Drive:
    """A transfer that goes on as long as the test feeds it."""

    def __init__(self, world: World, words: list[object], folder: Path) -> None:
        listen = ["-l", "-p", PORT]
        self.server = Netcat(listen, folder, prefix=world.server.prefix).listening()
        words = ["-N", "--json-file", "account", *words, SERVER[0], PORT]
        self.client = Netcat(words, folder, stdin=subprocess.PIPE, prefix=world.client.prefix)
        self.account_file = folder / "account"
        self.fed: list[bytes] = []
        self.got = b""
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.server.process.stdout is not None
        self.got = self.server.process.stdout.read()

    def feed(self) -> None:
        """Some more content; blocks while the network takes it."""
        assert self.client.process.stdin is not None
        self.client.process.stdin.write(CONTENT)
        self.client.process.stdin.flush()
        self.fed.append(CONTENT)

    def end(self) -> tuple[dict[str, Any], str]:
        """Ends the input; checks that everything came through, and gives the account."""
        assert self.client.process.stdin is not None
        self.client.process.stdin.close()
        self.client.process.stdin = None
        status, _, told = self.client.end()
        assert status == 0, told
        self.reader.join()
        self.server.process.stdout = None
        assert self.server.end()[0] == 0
        assert digest(self.got) == digest(b"".join(self.fed))
        account: dict[str, Any] = json.loads(self.account_file.read_text())
        return account, told


def addresses(account: dict[str, Any], path: str) -> list[tuple[str, str]]:
    """Address and state of the subflows of a path, in the order in which they came."""
    return [
        (subflow["local"].rpartition(":")[0], subflow["state"])
        for subflow in account["subflows"]
        if subflow["path"] == path
    ]


def test_wifi_comes_and_goes_and_cellular_stays(carfi: World, tmp_path: Path) -> None:
    (tmp_path / "nc.yaml").write_text("wifi: eth1\ncellular: eth2\n")
    carfi.client_goes(WIFI)
    drive = Drive(
        carfi, ["--policy", "pivot", "--config", "nc.yaml", "-s", CLIENT[CELLULAR]], tmp_path
    )
    drive.feed()
    for _ in range(2):
        carfi.client_comes(WIFI)
        opened = drive.client.wait_for("(wifi)")
        assert re.search(r"from 10\.0\.2\.6:\d+ to 10\.0\.4\.7:64000 is open", opened)
        drive.feed()
        carfi.client_goes(WIFI)
        assert "is closed: wifi has gone" in drive.client.wait_for("(wifi)")
        drive.feed()
    account, told = drive.end()
    assert addresses(account, "cellular") == [(CLIENT[CELLULAR], "open")]
    assert addresses(account, "wifi") == [(CLIENT[WIFI], "closed")] * 2
    wifi = [subflow for subflow in account["subflows"] if subflow["path"] == "wifi"]
    assert all(subflow["bytes_sent"] > 0 and not subflow["complete"] for subflow in wifi)
    assert "≥" in told


def test_cellular_is_a_backup_while_wifi_works(carfi: World, tmp_path: Path) -> None:
    words: list[object] = ["--policy", "pivot", "-I", "eth1", "--backup", "eth2"]
    drive = Drive(carfi, [*words, "-s", CLIENT[WIFI]], tmp_path)
    # Subflows can join as soon as the peer has acknowledged data.
    drive.feed()
    drive.client.wait_for("(eth2)")
    drive.feed()
    account, _ = drive.end()
    carried = {subflow["path"]: subflow["bytes_sent"] for subflow in account["subflows"]}
    assert carried["eth1"] == 2 * len(CONTENT)
    # The kernel may send again what waits for an acknowledgement, on whichever is idle.
    assert carried["eth2"] < len(CONTENT) / 10


def test_what_began_over_wifi_goes_on_over_cellular(carfi: World, tmp_path: Path) -> None:
    words: list[object] = ["--policy", "pivot", "-I", "eth1", "--backup", "eth2"]
    drive = Drive(carfi, [*words, "-s", CLIENT[WIFI]], tmp_path)
    # Subflows can join as soon as the peer has acknowledged data.
    drive.feed()
    drive.client.wait_for("(eth2)")
    carfi.client_goes(WIFI)
    drive.client.wait_for("eth1 has gone")
    drive.feed()
    account, _ = drive.end()
    assert addresses(account, "eth1") == [(CLIENT[WIFI], "closed")]
    assert addresses(account, "eth2") == [(CLIENT[CELLULAR], "open")]
    sent = {subflow["path"]: subflow["bytes_sent"] for subflow in account["subflows"]}
    assert sent["eth2"] >= len(CONTENT) / 2


def test_the_only_path_may_go_and_come_back(carfi: World, tmp_path: Path) -> None:
    drive = Drive(carfi, ["--policy", "pivot", "-I", "eth1", "-s", CLIENT[WIFI]], tmp_path)
    drive.feed()
    carfi.client_goes(WIFI)
    drive.client.wait_for("there is no other subflow")
    carfi.client_comes(WIFI)
    drive.client.wait_for("is open")
    drive.feed()
    account, _ = drive.end()
    assert addresses(account, "eth1")[-1] == (CLIENT[WIFI], "open")


def test_without_the_policy_a_path_that_dies_is_left_to_the_others(
    carfi: World, tmp_path: Path
) -> None:
    drive = Drive(carfi, ["-I", "eth1"], tmp_path)
    drive.feed()
    drive.client.wait_for("(eth1)")
    carfi.client_goes(WIFI)
    drive.feed()
    account, _ = drive.end()
    assert addresses(account, "eth1")[0][0] == CLIENT[WIFI]


def test_without_another_subflow_a_vanished_interface_ends_with_its_reason(
    carfi: World, tmp_path: Path
) -> None:
    # The kernel gives up after the first retransmissions.
    carfi.client.run("echo 3 > /proc/sys/net/ipv4/tcp_retries2")
    words = ["-N", "--tcp", SERVER[0], PORT]
    server = Netcat(["--tcp", "-l", PORT], tmp_path, prefix=carfi.server.prefix).listening()
    client = Netcat(words, tmp_path, stdin=subprocess.PIPE, prefix=carfi.client.prefix)
    assert client.process.stdin is not None
    client.process.stdin.write(CONTENT[:1000])
    client.process.stdin.flush()
    client.wait_for("connected to")
    carfi.client_goes(ETH0)
    status, _, told = client.end(CONTENT)
    assert status == 1
    assert re.search("timed out|no route to host|network is unreachable", told), told
    server.process.kill()
    server.end()
