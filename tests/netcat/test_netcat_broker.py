"""Subflows for a user without any privilege, by the broker of the namespace's root."""

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.broker.running import running
from tests.engine.cell import is_root
from tests.engine.launch import environment
from tests.engine.system import needs_mptcp
from tests.engine.user import NOBODY, folder_for_user, give, ordinary_user
from tests.netcat.programs import Netcat, digest
from tests.netcat.world import CLIENT, PORT, SERVER, Node, World, world

pytestmark = needs_mptcp
CONTENT = random.Random(7).randbytes(4_000_000)
USER = NOBODY if is_root() else 0
"""Whom the broker sees. Somebody who is not root has no second user: there it is the same one
without any capability."""


@pytest.fixture
def carfi() -> Iterator[World]:
    with world() as made:
        made.limit("40mbit")
        for node in (made.client, made.server):
            # As it is on every host: the broker changes it.
            node.run("echo kernel > /proc/sys/net/mptcp/path_manager")
        yield made


@pytest.fixture
def folder() -> Iterator[Path]:
    with folder_for_user() as made:
        made.chmod(0o755)
        yield made


def unprivileged(node: Node) -> list[str]:
    """Words that run a command in `node` as an ordinary user."""
    if is_root():
        return [*at_home(node), *ordinary_user()]
    return [*node.prefix, "setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def at_home(node: Node) -> list[str]:
    """Words that run a command in the network of `node`, as the one who runs the tests."""
    if is_root():
        return ["nsenter", f"--net=/proc/{node.holder.pid}/ns/net"]
    return node.prefix


@contextmanager
def broker(node: Node, folder: Path, name: str, rule: str) -> Iterator[Path]:
    """A broker in `node` with one rule; its socket."""
    policy, path = folder / f"{name}.yaml", folder / f"{name}.sock"
    policy.write_text(f"rules:\n  - {{{rule}}}\n")
    options = ["--policy", str(policy)]
    env = environment(folder / "root")
    with running(path, *options, prefix=at_home(node), env=env):
        yield path


def transfer(
    world: World, folder: Path, words: Sequence[object], rule: str
) -> tuple[int, dict[str, Any], str]:
    """Sends CONTENT between two ordinary users, of whom the client has `rule`; the status, account
    and messages of the client."""
    with ExitStack() as stack:
        prefixes = []
        for node, name, given in (
            (world.server, "server", f"users: {USER}"),
            (world.client, "client", rule),
        ):
            path = stack.enter_context(broker(node, folder, name, given))
            prefixes.append([*unprivileged(node), "env", f"MPTCPLAB_BROKER={path}"])
        home = folder / "user"
        environment(home / "home")
        (home / "content").write_bytes(CONTENT)
        give(home)
        server = Netcat(["-l", "-p", PORT], home, prefix=prefixes[0]).listening()
        with (home / "content").open("rb") as source:
            sending = ["-N", "--json-file", "account", *words, SERVER[0], PORT]
            client = Netcat(sending, home, stdin=source, prefix=prefixes[1])
        received = server.end()
        status, _, told = client.end()
        assert (received[0], digest(received[1])) == (0, digest(CONTENT)), (received[2], told)
    account = json.loads((home / "account").read_text())
    assert account["bytes_sent"] == len(CONTENT)
    return status, account, told


def from_addresses(account: dict[str, Any]) -> list[str]:
    return sorted(subflow["local"].rpartition(":")[0] for subflow in account["subflows"])


def test_without_a_broker_the_mend_is_named(carfi: World, folder: Path) -> None:
    give(folder)
    client = Netcat(
        ["-N", "-a", SERVER[0], PORT],
        folder,
        prefix=[*unprivileged(carfi.client), "env", f"MPTCPLAB_BROKER={folder}/none.sock"],
    )
    _, _, told = client.end()
    assert f"no subflows: no broker at {folder}/none.sock" in told


def test_a_subflow_from_every_address_without_privilege(carfi: World, folder: Path) -> None:
    status, account, told = transfer(carfi, folder, ["-a"], f"users: {USER}")
    assert status == 0, told
    assert from_addresses(account) == sorted(CLIENT), told
    assert all(subflow["bytes_sent"] > 0 for subflow in account["subflows"]), account


def test_the_pivot_of_a_car_without_privilege(carfi: World, folder: Path) -> None:
    words = ["--policy", "pivot", "-I", "eth1", "--backup", "eth2"]
    status, account, told = transfer(carfi, folder, words, f"users: {USER}")
    assert status == 0, told
    carried = {subflow["path"]: subflow["bytes_sent"] for subflow in account["subflows"]}
    # The kernel may send again what waits for an acknowledgement, on whichever is idle.
    assert carried["eth2"] < len(CONTENT) / 10 < carried["eth1"]


@pytest.mark.parametrize(
    ("words", "rule", "opened", "reason"),
    [
        ("-a", f"users: {USER}, interfaces: [eth1]", 2, "client.yaml:2: interface eth2 is not"),
        ("-a", f"users: {USER}, max_subflows: 1", 1, "1 subflows already, the most that is"),
        ("-a", f"users: {USER + 1}", 1, "no rule names you"),
        # A path that is followed is tried again, but not against the policy.
        ("--policy pivot -I eth1 -I eth2", f"users: {USER}, interfaces: [eth1]", 2, "eth2 is not"),
    ],
)
def test_what_the_policy_forbids_is_told_once_and_the_transfer_goes_on(
    carfi: World, folder: Path, words: str, rule: str, opened: int, reason: str
) -> None:
    status, account, told = transfer(carfi, folder, words.split(), rule)
    assert status == 0, told
    assert from_addresses(account) == sorted(CLIENT[:opened]), told
    refused = [line for line in told.splitlines() if "no subflow over eth2 (10.0.3.6): " in line]
    assert len(refused) == 1, told
    assert reason in refused[0]
