"""The folder that a server keeps everything in, but for another database: its owner's alone."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mptcplab.server.store.database import Connection, Database, SchemaError, StoreUnavailableError
from mptcplab.server.store.sqlite import SqliteDatabase


class StateError(Exception):
    """A folder that cannot be used; the text names it, and what to do."""


@dataclass(frozen=True)
class State:
    """The folder."""

    folder: Path

    @property
    def file(self) -> Path:
        """Its database, where no other one was chosen."""
        return self.folder / "server.db"

    @property
    def url(self) -> Path:
        """The URL of another database, which may have a password in it."""
        return self.folder / "database.url"

    @property
    def database(self) -> Database:
        """The one that the server was started with last.

        Raises:
            StateError: it is not known any more.

        """
        try:
            told = self.url.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return SqliteDatabase(self.file)
        except (OSError, ValueError):
            raise StateError(f"{self.url}: cannot be read: give --database once more") from None
        return _by_url(told, str(self.url))

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

    def chosen(self, url: str | None) -> Database:
        """The database of a URL; without one as before.

        Raises:
            StateError: it is none, or results are in the folder already.

        """
        if url is None:
            return self.database
        database = _by_url(url, "--database")
        if self.file.exists():
            raise StateError(
                f"--database {database.shown}: {self.file} has results, which are not taken along: "
                "name another folder by --state"
            )
        return database

    def remember(self, url: str) -> None:
        """Keeps the URL of the database for later starts, and for commands on the folder.

        Raises:
            StateError: it cannot be written.

        """
        temporary = self.url.with_suffix(".new")
        try:
            temporary.unlink(missing_ok=True)
            temporary.touch(0o600, exist_ok=False)
            temporary.write_text(f"{url}\n", encoding="utf-8")
            temporary.rename(self.url)
        except OSError as error:
            raise StateError(f"{self.url}: {error.strerror}") from None

    def open(self) -> Connection:
        """The database of a folder that a server has made.

        Raises:
            StateError: there is none, or it cannot be opened.

        """
        if not self.url.exists() and not self.file.is_file():
            raise StateError(
                f"{self.folder}: no server has ever run here: start `mptcplab server` first, "
                "or name its folder by --state"
            )
        return self.connect()

    def connect(self) -> Connection:
        """The database, made where it is missing.

        Raises:
            StateError: it cannot be opened.

        """
        with named_errors(self.database) as database:
            return database.connect()


@contextmanager
def named_errors(database: Database) -> Iterator[Database]:
    """Names the database where it cannot be used.

    Raises:
        StateError: it cannot.

    """
    try:
        yield database
    except (sqlite3.Error, SchemaError, StoreUnavailableError) as error:
        raise StateError(f"{database.shown}: {error}") from None


def _by_url(url: str, place: str) -> Database:
    try:
        from mptcplab.server.store.postgresql import PostgresqlDatabase
    except ImportError:
        raise StateError(
            f"{place}: psycopg is not installed: pip install 'mptcplab[postgresql]'"
        ) from None
    try:
        return PostgresqlDatabase(url)
    except ValueError as error:
        raise StateError(f"{place}: {error}") from None


def default_folder() -> Path:
    """The folder where none is named."""
    if os.geteuid() == 0:
        return Path("/var/lib/mptcplab-server")
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(home) / "mptcplab-server"
