"""Open vSwitch's datapath in user space, with ports of its kind `dummy`, in virtual time.

The database, the switch and their sockets are in a folder of their own, and need no root. Frames go
in by orders to the daemon, and come out by named pipes as captures in the format of libpcap. The
daemon's clock stands; it moves on by order.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Self

from tests.openflow import messages
from tests.openflow.control import Control
from tests.openflow.pcap_pipe import PcapPipe
from tests.openflow.switch import PORTS, Output

_PROGRAMS = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl")
_PATIENCE_S = 20.0
_QUEUE = 100
"""Packets that a port of the kind `dummy` holds until the switch takes them."""
_STEP_MS = 100
"""The clock moves on in such steps: each costs the daemon a pause of 10 ms."""
_NS_PER_MS = 1_000_000


@cache
def missing() -> str | None:
    """Why Open vSwitch cannot be tried here; null if it can."""
    absent = [one for one in _PROGRAMS if shutil.which(one, path=_path()) is None]
    return f"there is no {', '.join(absent)} (openvswitch-switch)" if absent else None


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin"


class OpenVSwitch:
    """Open vSwitch with one bridge, which ends with the context."""

    name = "Open vSwitch"

    def __init__(self) -> None:
        # The addresses of sockets are short: a test's own folder may have too long a name.
        self._folder = Path(tempfile.mkdtemp(prefix="ovs-"))
        self._given = 0
        with ExitStack() as ends:
            ends.callback(shutil.rmtree, self._folder)
            self._begin(ends)
            self._ends = ends.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def _begin(self, ends: ExitStack) -> None:
        self._run("ovsdb-tool", "create", "db")
        self._start(ends, "ovsdb-server", "db", "--remote=punix:db.sock", "--unixctl=db.ctl")
        self._await("db.sock")
        self._run("ovs-vsctl", "--db=unix:db.sock", "--no-wait", "init")
        self._start(
            ends,
            "ovs-vswitchd",
            "unix:db.sock",
            "--unixctl=switch.ctl",
            "--disable-system",
            "--enable-dummy=override",
        )
        self._await("switch.ctl")
        pipes = {port: self._folder / f"port{port}" for port in range(1, PORTS + 1)}
        self._pipes = {
            port: ends.enter_context(closing(PcapPipe(path))) for port, path in pipes.items()
        }
        bridge = "set bridge br datapath_type=dummy protocols=OpenFlow13 fail_mode=secure"
        ports = [
            f"add-port br port{port} -- set interface port{port} type=dummy mtu_request=9000 "
            f"ofport_request={port} options:tx_pcap={path}"
            for port, path in pipes.items()
        ]
        # By default a frame has one tag at most.
        tags = "set Open_vSwitch . other_config:vlan-limit=2"
        orders = " -- ".join(["--db=unix:db.sock add-br br", bridge, *ports, tags])
        self._run("ovs-vsctl", f"--timeout={_PATIENCE_S:.0f}", *orders.split())
        self._await("br.mgmt")
        self._controller = ends.enter_context(socket.socket(socket.AF_UNIX))
        self._controller.settimeout(_PATIENCE_S)
        self._controller.connect(str(self._folder / "br.mgmt"))
        self._control = ends.enter_context(
            closing(Control(self._folder / "switch.ctl", _PATIENCE_S))
        )
        self._control.order("time/stop")
        self.tell(*messages.start())

    def tell(self, *messages_: bytes) -> Output:
        output = self._exchange(*messages_)
        # Entries that the datapath keeps from before are forgotten.
        self._control.order("revalidator/purge")
        return output

    def give(self, port: int, frames: tuple[bytes, ...], count: int, interval_ns: int) -> Output:
        output = Output()
        digits = [frame.hex() for frame in frames]
        begun = 0
        for until_ms in range(_STEP_MS, count * interval_ns // _NS_PER_MS + 2 * _STEP_MS, _STEP_MS):
            due = min(count, until_ms * _NS_PER_MS // interval_ns if interval_ns else count)
            while begun < due:
                end = min(begun + _QUEUE, due)
                chosen = [digits[index % len(digits)] for index in range(begun, end)]
                self._take(port, chosen, output)
                begun = end
            if begun == count:
                break
            self._control.order("time/warp", str(_STEP_MS))
        return output

    def _take(self, port: int, digits: list[str], output: Output) -> None:
        """Gives frames to a port, and waits until the switch has forwarded them."""
        self._control.order("netdev-dummy/receive", f"port{port}", *digits)
        self._given += len(digits)
        until = time.monotonic() + _PATIENCE_S
        taken = -1
        while taken != self._given:
            if time.monotonic() > until:
                raise RuntimeError(f"Open vSwitch took {taken} of {self._given} packets")
            answer = self._exchange(messages.ask_port(port))
            for message in answer.messages:
                if messages.kind(message) == messages.MULTIPART_REPLY:
                    taken = messages.received(message)
                else:
                    output.messages.append(message)
            output.frames.update(answer.frames)

    def _exchange(self, *messages_: bytes) -> Output:
        """Sends messages, and takes all that comes out until they are carried out."""
        self._controller.sendall(b"".join(messages_) + messages.barrier())
        output = Output()
        while messages.kind(message := self._message()) != messages.BARRIER_REPLY:
            output.messages.append(message)
        for port, pipe in self._pipes.items():
            output.frames.update((port, frame) for frame in pipe.frames())
        return output

    def _message(self) -> bytes:
        header = self._bytes(messages.HEADER_BYTES)
        return header + self._bytes(int.from_bytes(header[2:4]) - messages.HEADER_BYTES)

    def _bytes(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            piece = self._controller.recv(count - len(received))
            if not piece:
                raise RuntimeError(f"Open vSwitch ended: {self._said()}")
            received += piece
        return received

    def _run(self, *words: str) -> None:
        done = subprocess.run(
            words, cwd=self._folder, env=self._environment(), capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr}{self._said()}")

    def _start(self, ends: ExitStack, program: str, *words: str) -> None:
        with (self._folder / program).open("wb") as log:
            process = subprocess.Popen(
                [program, *words],
                cwd=self._folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        ends.callback(process.wait)
        ends.callback(process.terminate)

    def _environment(self) -> dict[str, str]:
        own = ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR")
        return {**os.environ, "PATH": _path(), **dict.fromkeys(own, str(self._folder))}

    def _await(self, name: str) -> None:
        until = time.monotonic() + _PATIENCE_S
        while not (self._folder / name).exists():
            if time.monotonic() > until:
                raise RuntimeError(f"Open vSwitch made no {name}: {self._said()}")
            time.sleep(0.01)

    def _said(self) -> str:
        logs = (self._folder / program for program in _PROGRAMS)
        return "".join(log.read_text(errors="replace")[-2000:] for log in logs if log.exists())
