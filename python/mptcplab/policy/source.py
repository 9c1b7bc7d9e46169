"""Files of policies: their names, `FILE.py:FUNCTION`, and their text."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from pathlib import Path

from mptcplab.user_file import FileError, read_text

FORM = r"^.+\.py:[A-Za-z_][A-Za-z0-9_]*$"
"""The form of a name, as of a JSON schema."""
ARGUMENTS = "(connection, subflow, paths)"
_LARGEST_FILE_BYTES = 1 << 20


class PolicyError(Exception):
    """A policy that cannot be used; the text names the file, the line and the fix."""


@dataclass(frozen=True)
class PolicyName:
    """A policy by its file and the function in it."""

    file: str
    function: str

    @classmethod
    def parse(cls, text: str) -> PolicyName | None:
        """The parts of `FILE.py:FUNCTION`; None where this is the name of no file.

        Raises:
            PolicyError: there is no function, or what cannot be the name of one.

        """
        file, colon, function = text.rpartition(":")
        if not colon and text.endswith(".py"):
            raise PolicyError(f"say which function of the file: {text}:choose")
        if not file.endswith(".py"):
            return None
        if not (function.isidentifier() and function.isascii()):
            raise PolicyError("no function of Python has the name after the colon")
        return cls(file, function)


def is_policy_file(name: str) -> bool:
    """Whether a text is a name of the form `FILE.py:FUNCTION`."""
    try:
        return PolicyName.parse(name) is not None
    except PolicyError:
        return False


def read_policy(name: PolicyName, folder: Path) -> str:
    """The text of a policy's file, which was looked at but not executed.

    `folder` is where a relative file starts.

    Raises:
        PolicyError: it cannot be read, is no Python, or defines no such function.

    """
    try:
        text = read_text(folder / name.file, _LARGEST_FILE_BYTES)
    except FileError as error:
        raise PolicyError(f"{name.file}: {error}") from None
    _check(name, text)
    return text


def _check(name: PolicyName, text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            compile(tree, name.file, "exec", dont_inherit=True)
    except SyntaxError as error:
        reason = f"is no Python {_version()} ({error.msg})"
        raise PolicyError(f"{name.file}:{error.lineno or 1}: {reason}") from None
    except (ValueError, RecursionError, MemoryError):
        raise PolicyError(f"{name.file}:1: is no Python {_version()}") from None
    if name.function not in _defined(tree):
        text = f"defines no {name.function}: add `def {name.function}{ARGUMENTS}:`"
        raise PolicyError(f"{name.file}:1: {text}")


def _version() -> str:
    import platform

    return ".".join(platform.python_version_tuple()[:2])


def _defined(tree: ast.Module) -> set[str]:
    """Names that the module may define, wherever a statement of it does so."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=alias):
                found.add(alias or name)
    return found
