"""The folder that a server keeps everything in: its owner's alone."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mptcplab.server.store.connection import connect
from mptcplab.server.store.schema import SchemaError


class StateError(Exception):
    """A folder that cannot be used; the text names it, and what to do."""


@dataclass(frozen=True)
class State:
    """The folder."""

    folder: Path

    @property
    def database(self) -> Path:
        """Its database."""
        return self.folder / "server.db"

    @property
    def certificate(self) -> Path:
        """The server's own certificate (PEM)."""
        return self.folder / "certificate.pem"

    @property
    def key(self) -> Path:
        """Its key (PEM)."""
        return self.folder / "key.pem"

    def make(self) -> None:
        """Makes the folder where it is missing.

        Raises:
            StateError: it cannot be made, or others may write to it.

        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.folder.stat()
        except (FileExistsError, NotADirectoryError):
            raise StateError(
                f"{self.folder}: a file is in the way: name a folder that is yours alone, or one "
                "that is to be made"
            ) from None
        except OSError as error:
            raise StateError(f"{self.folder}: {error.strerror}") from None
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise StateError(
                f"{self.folder}: secrets are kept here, and others may read or own it: "
                f"take another folder, or `chmod 700 {self.folder}`"
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this lasts no other server uses the folder.

        Raises:
            StateError: another one does.

        """
        try:
            file = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StateError(f"{self.folder}: {error.strerror}") from None
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StateError(f"{self.folder}: another server uses it: end that one") from None
            yield
        finally:
            os.close(file)

    def open(self) -> sqlite3.Connection:
        """The database of a folder that a server has made.

        Raises:
            StateError: there is none, or it cannot be opened.

        """
        if not self.database.is_file():
            raise StateError(
                f"{self.folder}: no server has ever run here: start `mptcplab server` first, "
                "or name its folder by --state"
            )
        return self.connect()

    def connect(self) -> sqlite3.Connection:
        """The database, made where it is missing.

        Raises:
            StateError: it cannot be opened.

        """
        # The database and the files beside it are the owner's alone, whatever the folder is.
        before = os.umask(0o077)
        try:
            return connect(self.database)
        except (sqlite3.Error, SchemaError) as error:
            raise StateError(f"{self.database}: {error}") from None
        finally:
            os.umask(before)


def default_folder() -> Path:
    """The folder where none is named."""
    if os.geteuid() == 0:
        return Path("/var/lib/mptcplab-server")
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(home) / "mptcplab-server"
