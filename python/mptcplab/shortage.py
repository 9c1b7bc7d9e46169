"""Threads and memory that the machine does not grant: asked for beforehand, told in one line.

Libraries abort, or panic over many lines, where they get no thread or no memory. So the commands
that load large ones ask for both before.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import resource
import threading

THREADS = 8
"""Threads that the libraries of one process start with one worker thread each, and some more."""
ADDRESS_SPACE_BYTES = 1 << 30
"""Memory of one process with its libraries and a run of ordinary size."""
_FRUGAL = {
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
}
"""Environment of libraries that else take threads and address space by the number of cores."""
_PLENTY = {resource.RLIMIT_AS: 16 << 30, resource.RLIMIT_NPROC: 1024}
"""Limits that such libraries do not meet."""
_MEMORY = "there is not enough memory: allow more (ulimit -v)"
DESCRIPTORS = "no file descriptors are left: allow more (ulimit -n)"
_DESCRIPTORS_OF_ALL = "no file descriptors are left on this machine: raise fs.file-max"
_THREADS = "no further process or thread can be started: allow more (ulimit -u)"
_REASONS = {
    errno.ENOMEM: _MEMORY,
    errno.EMFILE: DESCRIPTORS,
    errno.ENFILE: _DESCRIPTORS_OF_ALL,
    errno.EAGAIN: _THREADS,
}
_NO_DESCRIPTORS = re.compile(
    r"too many open files(?P<all> in system)?( \(os error \d+\))?\)?\s*$", re.IGNORECASE
)


class ShortageError(Exception):
    """Something is not granted; the text says what and how to get it."""


def ask() -> None:
    """Asks for the threads and the address space that large libraries take.

    Where the caller has limited either, the libraries are told to take less. Comes before they are
    loaded.

    Raises:
        ShortageError: they are not granted.

    """
    if any(0 <= resource.getrlimit(kind)[0] < plenty for kind, plenty in _PLENTY.items()):
        for name, value in _FRUGAL.items():
            os.environ.setdefault(name, value)
    try:
        # Reserved only: nothing is read or written there.
        mmap.mmap(-1, ADDRESS_SPACE_BYTES, flags=mmap.MAP_PRIVATE, prot=0).close()
    except OSError:
        raise ShortageError(_MEMORY) from None
    _ask_for_threads()


def _ask_for_threads() -> None:
    over = threading.Event()
    begun: list[threading.Thread] = []
    try:
        for _ in range(THREADS):
            thread = threading.Thread(target=over.wait)
            thread.start()
            begun.append(thread)
    except RuntimeError:
        raise ShortageError(_THREADS) from None
    finally:
        over.set()
        for thread in begun:
            thread.join()


def shortage_of(error: BaseException) -> str | None:
    """The resource that was not granted, in one line; null where the error has another cause."""
    if isinstance(error, ShortageError):
        return str(error)
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, OSError):
        return _REASONS.get(error.errno or 0)
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return _THREADS
    if isinstance(error, ImportError) and "failed to map segment" in str(error):
        return _MEMORY
    if type(error).__name__ == "PanicException":
        return f"a library gave up: {str(error).partition(chr(10))[0]}"
    return None


def told_by(words: str) -> str | None:
    """The same of an error that another process told in words, of which descriptors are known.

    The cause stands at their end: what stands before it may be a command of the user's.
    """
    found = _NO_DESCRIPTORS.search(words)
    if found is None:
        return None
    return DESCRIPTORS if found["all"] is None else _DESCRIPTORS_OF_ALL
