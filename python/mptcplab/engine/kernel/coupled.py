"""Coupled congestion controls, which mptcplab brings to a kernel that lacks them by BPF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache

from mptcplab.engine.kernel.failure import NotGrantedError, failure

COUPLED = ("lia", "olia", "balia", "wvegas")
"""Their names, in Linux and in scenarios."""


@cache
def load_refused(name: str) -> str | None:
    """Why this one cannot be loaded here, null where it can: it is loaded and unloaded.

    Raises:
        NotGrantedError: a limit of the caller's is in the way.

    """
    from mptcplab import _native

    try:
        _native.hold_congestion_control(name).close()
    except _native.BpfError as error:
        found = failure(str(error))
        if isinstance(found, NotGrantedError):
            raise found from error
        return str(error)
    return None


@contextmanager
def held(names: Iterable[str]) -> Iterator[None]:
    """Has the coupled ones among the names in the kernel meanwhile, however this process ends.

    Raises:
        EngineError: one cannot be loaded.

    """
    from mptcplab import _native

    with ExitStack() as stack:
        try:
            for name in COUPLED:
                if name in names:
                    stack.enter_context(closing(_native.hold_congestion_control(name)))
        except _native.BpfError as error:
            raise failure(str(error)) from error
        yield
