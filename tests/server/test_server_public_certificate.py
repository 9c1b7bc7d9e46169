"""Agents take a server's certificate by the root certificates of their system."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.server.running import Running, run, started, told_by

from mptcplab.cli.host_program import find_program

HOST = "localhost"


class Authority:
    """An authority whose certificates a system may take."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("the authority")
        made = self._certificate(self._name, self._key, x509.BasicConstraints(True, None))
        file.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def give(self, folder: Path, host: str) -> tuple[str, ...]:
        """The options of a server with a new certificate for a host."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host)])
        made = self._certificate(_name(host), key, names)
        (folder / "host.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        (folder / "host.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        files = ("--certificate", str(folder / "host.pem"), "--key", str(folder / "host.key"))
        return (*files, "--public-certificate", "--url", f"https://{HOST}")

    def _certificate(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=30))
            .add_extension(extension, critical=False)
            .sign(self._key, hashes.SHA256())
        )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@pytest.fixture
def agent(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the agent once, with the root certificates of a file."""
    program = find_program()
    if program is None or subprocess.run([program, "agent", "-h"], capture_output=True).returncode:
        pytest.skip("mptcplab-host has no agent")

    def once(roots: Path, *options: str) -> subprocess.CompletedProcess[str]:
        words = [program, "agent", "--once", "--leave-endpoints", "--state", str(tmp_path / "own")]
        environment = os.environ | {"SSL_CERT_FILE": str(roots)}
        return subprocess.run(
            [*words, *options], capture_output=True, text=True, timeout=300, env=environment
        )

    return once


def line_of(server: Running) -> str:
    url = f"https://{HOST}:{server.port}"
    return run("enrol", "--state", str(server.state), "--url", url).strip()


def test_an_agent_takes_a_certificate_that_is_renewed(
    agent: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    authority = Authority(tmp_path / "roots.pem")
    state = tmp_path / "state"
    with started(state, *authority.give(tmp_path, HOST)) as server:
        assert server.told["fingerprint"] is None
        line = line_of(server)
        assert told_by(line)["fingerprint"] is None
        ended = agent(authority.file, "--enrol", line, "--name", "first")
        assert ended.returncode == 0, ended.stderr
        (row,) = server.get("/api/v1/agents").json["agents"]
        assert row["name"] == "first"
    with started(state, *authority.give(tmp_path, HOST)) as server:
        # The port is another one: the host is the same, so the token of it is the same server's.
        ended = agent(authority.file, "--enrol", line_of(server))
        assert ended.returncode == 0, ended.stderr


def test_a_certificate_that_no_root_vouches_for_is_not_taken(
    agent: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    authority, stranger = Authority(tmp_path / "roots.pem"), Authority(tmp_path / "other.pem")
    with started(tmp_path / "state", *authority.give(tmp_path, HOST)) as server:
        line = line_of(server)
        told = agent(stranger.file, "--enrol", line).stderr
        assert "the system's root certificates do not vouch for its certificate" in told
        told = agent(tmp_path / "none.pem", "--enrol", line).stderr
        assert "no root certificates of the system" in told
        assert server.get("/api/v1/agents").json["agents"] == []
    with started(tmp_path / "state", *authority.give(tmp_path, "another.example")) as server:
        told = agent(authority.file, "--enrol", line_of(server)).stderr
        assert "do not vouch for its certificate" in told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--url", "https://h"), "give it by --certificate and --key"),
        (("--certificate", "x", "--key", "x"), "--public-certificate: give --url"),
        (("--behind-proxy", "--url", "https://h", "--certificate", "x"), "leave out --certificate"),
    ],
)
def test_options_that_do_not_go_together_are_told(
    options: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    words = ("--state", str(tmp_path / "state"), "--public-certificate", *options)
    assert told in run(*words, status=1)


def test_behind_a_proxy_no_certificate_is_needed(tmp_path: Path) -> None:
    options = ("--behind-proxy", "--url", f"https://{HOST}", "--public-certificate")
    with started(tmp_path / "state", *options) as server:
        assert server.told["fingerprint"] is None
        assert told_by(run("enrol", "--state", str(server.state)).strip())["fingerprint"] is None
