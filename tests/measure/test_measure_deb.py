"""The Debian package of agent and target, unpacked into an empty root and started there."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.server.made import encoded
from tests.server.running import Running, started

from mptcplab.cli.host_program import find_program

CHECKOUT = Path(__file__).parents[2]
PROGRAM = "usr/bin/mptcplab-host"
UNITS = "usr/lib/systemd/system"
CONFIGURATION = "etc/mptcplab/agent.env"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of this environment's program, which is the static one's but for its C library."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("there is no dpkg-deb here")
    program = find_program()
    if program is None:
        pytest.skip("there is no mptcplab-host here")
    return built(program, tmp_path_factory.mktemp("deb"))


def built(program: str, folder: Path) -> Path:
    words = [str(CHECKOUT / "packaging/deb/build"), program, str(folder)]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return Path(told.strip())


@pytest.fixture(scope="module")
def root(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty root with the package, and the libraries of a program that is not static."""
    folder = tmp_path_factory.mktemp("root")
    subprocess.run(["dpkg-deb", "--extract", str(package), str(folder)], check=True)
    told = subprocess.run(["ldd", folder / PROGRAM], capture_output=True, text=True).stdout
    for library in re.findall(r"(/\S+) \(0x", told):
        place = folder / library.removeprefix("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    for name in ("proc", "var/lib"):
        (folder / name).mkdir(parents=True)
    return folder


def test_a_package_has_all_and_says_what_it_has(package: Path, root: Path, tmp_path: Path) -> None:
    control = tmp_path / "control"
    subprocess.run(["dpkg-deb", "--control", str(package), str(control)], check=True)
    told = (control / "control").read_text()
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert package.name == f"mptcplab-host_{version()}_{architecture}.deb"
    assert f"\nVersion: {version()}\n" in told
    assert f"\nArchitecture: {architecture}\n" in told
    assert (control / "conffiles").read_text() == f"/{CONFIGURATION}\n"
    lines = (control / "md5sums").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    there = {str(file.relative_to(root)) for file in (root / "usr").rglob("*") if file.is_file()}
    libraries = {name for name in there if ".so" in name}
    assert set(sums) == there - libraries
    for name, digest in sums.items():
        content = (root / name).read_bytes()
        assert hashlib.md5(content, usedforsecurity=False).hexdigest() == digest
    for name in ("mptcplab-agent.service", "mptcplab-target.service"):
        unit = (root / UNITS / name).read_text()
        assert unit == (CHECKOUT / "packaging/systemd" / name).read_text()
        assert f"ExecStart=/{PROGRAM} " in unit
    assert (root / CONFIGURATION).stat().st_mode & 0o777 == 0o600
    assert (
        "EnvironmentFile=-/etc/mptcplab/agent.env"
        in (root / UNITS / "mptcplab-agent.service").read_text()
    )
    documents = root / "usr/share/doc/mptcplab-host"
    assert "License: Apache-2.0" in (documents / "copyright").read_text()
    libraries_told = (documents / "libraries").read_text().splitlines()
    assert all(re.fullmatch(r"\S+ v\S+: \S.*", line) for line in libraries_told)
    assert any(line.startswith("rustls v") for line in libraries_told)
    for script in ("postinst", "prerm", "postrm"):
        assert (control / script).stat().st_mode & 0o111
        subprocess.run(["sh", "-n", control / script], check=True)


def version() -> str:
    found = re.search(r'^version = "(.+)"$', (CHECKOUT / "Cargo.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def inside(root: Path, *words: str) -> list[str]:
    """A program in the root, which has the system's /proc and nothing else of it."""
    enter = 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"'
    space = ["unshare", "--user", "--map-root-user", "--mount"]
    return [*space, "sh", "-c", enter, str(root), f"/{PROGRAM}", *words]


def test_agent_and_target_run_in_an_empty_root(root: Path, tmp_path: Path) -> None:
    tried = subprocess.run(inside(root, "--version"), capture_output=True, text=True)
    if re.match("unshare|mount", tried.stderr):
        pytest.skip(f"no user namespaces here: {tried.stderr.strip()}")
    assert tried.stdout.strip() == f"mptcplab-host {version()}"
    with started(tmp_path / "state") as server, target(root) as (port, token):
        plan = {
            "target": {"host": "127.0.0.1", "port": port, "token": token},
            "sizes_bytes": [30_000],
            "directions": ["down"],
            "repeat": 1,
            "schedule": {"every_s": 3_600},
            "budget_bytes": 400_000,
            "daily_bytes": 5_000_000,
        }
        assert (
            server.request("PUT", "/api/v1/plans/lines", encoded(plan), server.admin).status == 201
        )
        (root / "var/lib/enrolment").write_text(line(server))
        words = ("agent", "--once", "--leave-endpoints", "--name", "empty")
        measured = subprocess.run(
            inside(root, *words, "--enrol-file", "/var/lib/enrolment"),
            capture_output=True,
            text=True,
        )
        assert measured.returncode == 0, measured.stderr
        (result,) = server.get("/api/v1/results").json["results"]
        assert (result["outcome"], result["interfaces"]) == ("complete", ["lo"])
    assert (root / "var/lib/mptcplab-agent/agent.json").is_file()


def line(server: Running) -> str:
    answer = server.request("POST", "/api/v1/enrolments", encoded({}), server.admin)
    return str(answer.json["token"])


@contextmanager
def target(root: Path) -> Iterator[tuple[int, str]]:
    """The port and the token of a target in the root."""
    words = ("target", "--listen", "127.0.0.1:0", "--data-port", "0")
    process = subprocess.Popen(
        inside(root, *words, "--state", "/var/lib/mptcplab-target"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        token = process.stdout.readline().strip()
        yield int(process.stderr.readline().partition(",")[0].rpartition(":")[2]), token
    finally:
        process.terminate()
        process.communicate()
