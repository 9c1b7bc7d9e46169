"""Our switch: the example `lines` of `crates/lab/switch`, in virtual time."""

import json
import subprocess
from pathlib import Path
from typing import Self

from tests.openflow import messages
from tests.openflow.switch import PORTS, Output

_ROOT = Path(__file__).parents[2]
# Of the whole workspace, as `make test` builds it, so that all is found built.
_BUILD = "cargo build --release --locked --workspace --example lines --message-format json"


def _program() -> str:
    """The program's file, which is built if need be."""
    built = subprocess.run(
        _BUILD.split(), cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    told = (json.loads(line) for line in built.splitlines())
    return next(
        str(one["executable"])
        for one in told
        if one["reason"] == "compiler-artifact" and one["target"]["name"] == "lines"
    )


class Ours:
    """A process of our switch, which ends with the context."""

    name = "mptcplab"

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [_program(), str(PORTS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._now_ns = 0
        self.tell(*messages.start())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def tell(self, *messages: bytes) -> Output:
        output = Output()
        for message in messages:
            self._ask(output, f"message {self._now_ns} {message.hex()}")
        return output

    def give(self, port: int, frames: tuple[bytes, ...], count: int, interval_ns: int) -> Output:
        output = Output()
        given = " ".join(frame.hex() for frame in frames)
        self._ask(output, f"packets {self._now_ns} {port} {count} {interval_ns} {given}")
        self._now_ns += count * interval_ns
        return output

    def _ask(self, output: Output, request: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(request, file=self._process.stdin, flush=True)
        for line in self._process.stdout:
            match line.split():
                case ["message", digits]:
                    output.messages.append(bytes.fromhex(digits))
                case ["packet", port, count, digits]:
                    output.frames[int(port), bytes.fromhex(digits)] += int(count)
                case ["end"]:
                    return
        raise RuntimeError("our switch ended; its standard error says why")
