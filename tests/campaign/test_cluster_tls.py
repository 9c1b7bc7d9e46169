"""A sweep on a cluster over TLS: only certificates of its own authority open it."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.campaign.dask_processes import DaskProcesses
from tests.engine.launch import environment, run

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
WORDS = ["sweep", "lisbon/A1", "--axis", "links.wifi.delay=5ms,20ms", "--repeat", "1"]
SHORT = ["--duration", "1s", "--engine", "sim", "--out", "out"]
_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


@dataclass(frozen=True)
class Certificates:
    """The files of an authority, and of a certificate of it."""

    ca: Path
    cert: Path
    key: Path

    def options(self, *names: str) -> list[str]:
        """Options of these names with the files."""
        files = (self.ca, self.cert, self.key)
        return [word for name, file in zip(names, files, strict=True) for word in (name, str(file))]


def certificates(folder: Path) -> Certificates:
    folder.mkdir()
    openssl(folder, "req", "-x509", *_KEY, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(folder, "req", *_KEY, "-subj", "/CN=node", "-keyout", "key.pem", "-out", "node.csr")
    signed = ["-in", "node.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    openssl(folder, "x509", "-req", *signed, "-out", "cert.pem")
    return Certificates(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def own(tmp_path: Path) -> Certificates:
    return certificates(tmp_path / "own")


@pytest.fixture
def cluster(tmp_path: Path, own: Certificates) -> Iterator[DaskProcesses]:
    files = own.options("--tls-ca-file", "--tls-cert", "--tls-key")
    made = DaskProcesses(tmp_path / "dask", *files, scheme="tls")
    yield made
    made.end()


def test_the_certificates_come_from_options_or_from_the_configuration(
    tmp_path: Path, own: Certificates, cluster: DaskProcesses
) -> None:
    cluster.start_worker()
    assert cluster.address.startswith("tls://")
    words = [*WORDS, *SHORT, "--cluster", cluster.address]
    ended = run([*words, *own.options("--tls-ca", "--tls-cert", "--tls-key")], tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "out: 6 runs: 0 found, 6 done" in ended.stderr
    configured = environment(
        tmp_path / "home",
        DASK_DISTRIBUTED__COMM__TLS__CA_FILE=str(own.ca),
        DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT=str(own.cert),
        DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY=str(own.key),
    )
    again = run([*words, "--seed", "2", "--out", "again"], tmp_path, env=configured)
    assert again.returncode == 0, again.stderr
    assert "again: 6 runs: 0 found, 6 done" in again.stderr


def test_a_certificate_of_another_authority_is_refused(
    tmp_path: Path, own: Certificates, cluster: DaskProcesses
) -> None:
    other = certificates(tmp_path / "other")
    mixed = Certificates(own.ca, other.cert, other.key)
    words = [*WORDS, *SHORT, "--cluster", cluster.address]
    for wrong in (other, mixed):
        ended = run([*words, *wrong.options("--tls-ca", "--tls-cert", "--tls-key")], tmp_path)
        assert ended.returncode == 1
        (line,) = ended.stderr.splitlines()
        assert line.startswith(f"--cluster {cluster.address}: no scheduler answers")
