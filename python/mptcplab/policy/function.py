"""Functions of policies, loaded and called: what they do wrong becomes one clear error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from inspect import signature
from threading import Thread
from types import FrameType, ModuleType, TracebackType
from typing import Any

from mptcplab.policy.source import ARGUMENTS, PolicyError, PolicyName
from mptcplab.policy.views import WAIT, Connection, Flow, Link, Path, Paths, Port, Subflow
from mptcplab.printable import printable

LONGEST_CALL_S = 10
"""Time in which a call answers. Seconds are counted one by one: a process that was stopped for
longer has lost one."""
REFUSED, WAITS = -1, -2
"""Answers that are no place of a path, as `crates/lab/controller/src/policy/told.rs` has them."""
_LONGEST_REASON = 300
_MODULE = "_mptcplab_policy"

FlowTuple = tuple[str, str, int, int, int]
LinkTuple = tuple[int, int, int, int]
PathTuple = tuple[list[LinkTuple], int | None, int | None, int, int, int, int]
SubflowTuple = tuple[FlowTuple, list[LinkTuple]]
ConnectionTuple = tuple[FlowTuple, bool, int | None, int, list[SubflowTuple], int]


class PolicyFunction:
    """The function of a policy, as the controller asks it."""

    def __init__(self, name: PolicyName, source: str) -> None:
        """Executes the text of the file.

        Raises:
            PolicyError: the text raises something, takes too long, or defines no such function.

        """
        self._name = name
        module = ModuleType(_MODULE)
        module.__file__ = name.file
        # Where data classes of the file look for its names.
        sys.modules[_MODULE] = module
        code = compile(source, name.file, "exec", dont_inherit=True)
        self._limited(lambda: exec(code, module.__dict__), "when the file was loaded")
        function = module.__dict__.get(name.function)
        if not callable(function):
            text = f"{name.function} is no function: add `def {name.function}{ARGUMENTS}:`"
            raise PolicyError(f"{name.file}:1: {text}")
        self._function: Callable[..., Any] = function
        self._line = getattr(getattr(function, "__code__", None), "co_firstlineno", 1)
        try:
            signature(function).bind(None, None, None)
        except TypeError:
            text = f"{name.function} does not take three arguments: write `def {name.function}"
            raise self._error(f"{text}{ARGUMENTS}:`") from None
        except ValueError:
            return  # A function of C, which does not tell its arguments.

    def __call__(
        self,
        connection: ConnectionTuple,
        subflow: tuple[FlowTuple, bool],
        disjoint: Sequence[PathTuple],
        equal_cost: Sequence[PathTuple],
    ) -> int:
        """The place of the chosen path in both lists together, `REFUSED` or `WAITS`.

        Raises:
            PolicyError: the function raises something, takes too long, or its answer is none.

        """
        asking = Subflow(Flow(*subflow[0]), None, subflow[1])
        paths = Paths(tuple(map(_path, disjoint)), tuple(map(_path, equal_cost)))
        asked = _connection(connection), asking, paths
        flow = asking.flow
        place = f"{flow.source} port {flow.source_port}"
        answer = self._limited(
            lambda: self._function(*asked),
            f"when {self._name.function} was asked for the path of the subflow from {place}",
        )
        return self._place(answer, paths)

    def _place(self, answer: object, paths: Paths) -> int:
        if answer is None:
            return REFUSED
        if answer is WAIT:
            return WAITS
        offered = (*paths.disjoint, *paths.equal_cost)
        if isinstance(answer, Path):
            for place, path in enumerate(offered):
                if path.links == answer.links:
                    return place
            what = "a path that it was not offered"
        else:
            what = f"an object of type {printable(type(answer).__name__)[:_LONGEST_REASON]}"
        raise self._error(
            f"{self._name.function} answered with {what}: answer with one of paths.disjoint or "
            "paths.equal_cost, with None to refuse the subflow, or with WAIT"
        )

    def _limited(self, call: Callable[[], object], when: str) -> object:
        """The result of a call, within the time that it has."""
        given: list[object] = []
        raised: list[BaseException] = []

        def answer() -> None:
            try:
                given.append(call())
            except BaseException as error:
                raised.append(error)

        thread = Thread(target=answer, name="policy", daemon=True)
        # Standard output may be the way by which a worker answers.
        with redirect_stdout(sys.stderr):
            thread.start()
            for _ in range(LONGEST_CALL_S):
                thread.join(1)
                if not thread.is_alive():
                    break
        if raised:
            raise self._raised(raised[0], when) from raised[0]
        if not given:
            raise self._late(thread, when)
        return given[0]

    def _raised(self, error: BaseException, when: str) -> PolicyError:
        line = self._line_of_traceback(error.__traceback__)
        try:
            said = str(error)
        except Exception:  # The policy's own exception may fail at this, too.
            said = ""
        words = f"{type(error).__name__}: {said}" if said else type(error).__name__
        words = " ".join(printable(words).split())[:_LONGEST_REASON]
        return self._error(f"{words}, {when}: correct it, or catch the exception there", line)

    def _late(self, thread: Thread, when: str) -> PolicyError:
        """The error of a call that does not end, which is made to end at its next instruction."""
        frame = sys._current_frames().get(thread.ident or 0)
        line = self._line_of_frame(frame)
        _interrupt(thread)
        text = f"no answer within {LONGEST_CALL_S} s, {when}: it must neither wait nor loop"
        return self._error(text, line)

    def _line_of_traceback(self, traceback: TracebackType | None) -> int | None:
        """The line of the file's innermost frame."""
        line = None
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._name.file:
                line = traceback.tb_lineno
            traceback = traceback.tb_next
        return line

    def _line_of_frame(self, frame: FrameType | None) -> int | None:
        while frame is not None:
            if frame.f_code.co_filename == self._name.file:
                return frame.f_lineno
            frame = frame.f_back
        return None

    def _error(self, text: str, line: int | None = None) -> PolicyError:
        if line is None:
            line = getattr(self, "_line", 1)
        return PolicyError(f"{self._name.file}:{line}: {text}")


def load_policy(name: str, source: str) -> PolicyFunction:
    """The function of a policy of this name, whose file has this text.

    Raises:
        PolicyError: as of `PolicyFunction`, or the name is none of a file.

    """
    parsed = PolicyName.parse(name)
    if parsed is None:
        raise PolicyError(f"{name}: write FILE.py:FUNCTION")
    return PolicyFunction(parsed, source)


def _interrupt(thread: Thread) -> None:
    import ctypes

    if thread.ident is not None:
        identity = ctypes.c_ulong(thread.ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(SystemExit))


def _links(links: Sequence[LinkTuple]) -> tuple[Link, ...]:
    return tuple(Link(Port(*link[:2]), Port(*link[2:])) for link in links)


def _path(path: PathTuple) -> Path:
    return Path(_links(path[0]), *path[1:])


def _connection(told: ConnectionTuple) -> Connection:
    flow, is_multipath, size_bytes, carried_bytes, others, seed = told
    subflows = tuple(Subflow(Flow(*own), _links(links)) for own, links in others)
    return Connection(Flow(*flow), is_multipath, size_bytes, carried_bytes, subflows, seed)
