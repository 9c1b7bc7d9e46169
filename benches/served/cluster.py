"""A PostgreSQL server of its own in a temporary folder, reached by a socket there alone."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

_PATIENCE_S = 60
USER = "mptcplab"
MISSING = "PostgreSQL is not installed (Debian's package: postgresql)"


def programs() -> Path | None:
    """The folder of the newest `initdb` and `postgres`, where Debian has them or in the path."""
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    found = [one for one in debian if (one / "postgres").exists() and (one / "initdb").exists()]
    if found:
        return max(found, key=lambda one: float(one.parent.name))
    program = shutil.which("postgres")
    return None if program is None else Path(program).resolve().parent


@dataclass
class Cluster:
    """A server, which may be ended and started again."""

    programs: Path
    folder: Path
    """With its socket; its owner's alone."""
    settings: Mapping[str, str]
    owner: Mapping[str, Any]
    """The user of its programs, for `subprocess`."""
    password: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    process: subprocess.Popen[bytes] | None = None

    def url(self, database: str, password: str | None = None) -> str:
        """The URL of a database, with the right password unless another one is given."""
        told = self.password if password is None else password
        return f"postgresql://{USER}:{told}@/{database}?host={self.folder}"

    def new_database(self, options: str = "") -> str:
        """The URL of a database that is empty."""
        name = f"lab_{secrets.token_hex(4)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} {options}".encode())
        return self.url(name)

    def start(self) -> None:
        """Starts it, and waits until it answers.

        Raises:
            RuntimeError: it does not.

        """
        own = {"listen_addresses": "", "unix_socket_directories": str(self.folder)}
        options = [f"--{name}={value}" for name, value in (own | dict(self.settings)).items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self.owner,
            )
        until = time.monotonic() + _PATIENCE_S
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > until:
                log_text = (self.folder / "log").read_text(errors="replace")
                raise RuntimeError(f"PostgreSQL does not answer: {log_text}")
            time.sleep(0.05)

    def end(self) -> None:
        """Ends it at once, with all connections; what was committed is kept."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGINT)
            self.process.wait(_PATIENCE_S)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def started(settings: Mapping[str, str]) -> Iterator[Cluster]:
    """A server with these settings, which ends afterwards; nothing of it is left.

    Raises:
        RuntimeError: its programs are not here, or it does not start.

    """
    found = programs()
    if found is None:
        raise RuntimeError(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        cluster = Cluster(found, folder, settings, _owner(folder))
        _make(cluster)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.end()
    finally:
        shutil.rmtree(folder)


def _owner(folder: Path) -> dict[str, Any]:
    """The user of its programs, which refuse to be root's."""
    if os.geteuid():
        return {}
    names = {one.pw_name: one for one in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _make(cluster: Cluster) -> None:
    # The folder is closed to others.
    kept = cluster.folder / "password"
    kept.write_text(f"{cluster.password}\n")
    kept.chmod(0o644)
    made = subprocess.run(
        [
            cluster.programs / "initdb", "-D", cluster.folder / "data", "--username", USER,
            "--auth", "scram-sha-256", "--pwfile", kept,
            "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cluster.folder,
        **cluster.owner,
    )  # fmt: skip
    if made.returncode:
        raise RuntimeError(f"initdb: {made.stdout.decode(errors='replace')}")
