"""Which schedulers and workers a sweep speaks to."""

from pathlib import Path

import pytest

from mptcplab.campaign import cluster_connection
from mptcplab.campaign.cluster_address import Cluster, check_place
from mptcplab.engine.job import EngineError


@pytest.mark.parametrize(
    "address",
    ["tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:1", "tls://host.example:8786"],
)
def test_an_address_on_the_loopback_or_of_tls_is_taken(address: str) -> None:
    assert Cluster(address).address == address
    check_place("worker", address)


@pytest.mark.parametrize("address", ["somewhere", "127.0.0.1:8786", "ws://127.0.0.1:1", "tcp://a"])
def test_something_else_is_no_address(address: str) -> None:
    with pytest.raises(EngineError, match=r"write tcp://127\.0\.0\.1:8786, or tls://HOST:8786"):
        Cluster(address)


@pytest.mark.parametrize(
    "host", ["192.0.2.1", "0.0.0.0", "localhost.example", "127.0.0.1.example", "[::]", "[::2]"]
)
def test_beyond_the_loopback_only_tls_is_taken(host: str) -> None:
    with pytest.raises(EngineError, match="beyond the loopback only TLS with client certificates"):
        Cluster(f"tcp://{host}:8786")
    with pytest.raises(EngineError, match="beyond the loopback without TLS"):
        check_place("worker", f"tcp://{host}:8786")


def test_certificates_are_needed_and_readable(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="wants a client certificate: give --tls-ca, --tls-cert"):
        Cluster("tls://192.0.2.1:1").security()
    missing = tmp_path / "missing.pem"
    with pytest.raises(EngineError, match="the certificates cannot be used"):
        Cluster("tls://192.0.2.1:1", missing, missing, missing).security()
    with pytest.raises(EngineError, match="certificates go with a tls:// address"):
        Cluster("tcp://127.0.0.1:1", missing)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_connection, "CONNECTS_S", 0.3)
    with (
        pytest.raises(EngineError, match=r"--cluster tcp://127\.0\.0\.1:1: no scheduler answers"),
        cluster_connection.connected(Cluster("tcp://127.0.0.1:1")),
    ):
        pass
