"""A shortage of the machine, or a limit, is one line and status 1."""

import resource
import subprocess
from pathlib import Path

import pytest
from tests.engine.cell import is_root
from tests.engine.launch import COMMAND, TIME_LIMIT_S, environment
from tests.engine.system import needs_mptcp

from mptcplab import shortage
from mptcplab.shortage import shortage_of, told_by

MEMORY = "there is not enough memory: allow more (ulimit -v)"
THREADS = "no further process or thread can be started: allow more (ulimit -u)"
DESCRIPTORS = "no file descriptors are left: allow more (ulimit -n)"
RUN = ["run", "lisbon/A1", "--engine", "sim", "--duration", "200 ms", "--repeat", "1"]
AS_USER = [
    "setpriv",
    *("--reuid=4242", "--regid=4242", "--clear-groups"),
    *("--inh-caps=-all,+dac_override,+dac_read_search",),
    *("--ambient-caps=-all,+dac_override,+dac_read_search",),
]
"""Another user, whom limits of processes hold, and who may come to an interpreter of root's."""


def limited(
    kind: int, most: int, words: list[str], folder: Path, prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs the command with a limit."""
    return subprocess.run(
        [*prefix, "prlimit", f"--{_NAMES[kind]}={most}", COMMAND, *words],
        cwd=folder,
        env=environment(folder, MPLCONFIGDIR=str(folder)),
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
    )


_NAMES = {
    resource.RLIMIT_AS: "as",
    resource.RLIMIT_NPROC: "nproc",
    resource.RLIMIT_NOFILE: "nofile",
}


@pytest.mark.parametrize("most", [200 << 20, 600 << 20, 1000 << 20])
@pytest.mark.parametrize("words", [RUN, ["check", "lisbon/A1"], ["trace", "x"], ["report", "x"]])
def test_too_little_address_space(most: int, words: list[str], tmp_path: Path) -> None:
    ended = limited(resource.RLIMIT_AS, most, words, tmp_path)
    assert (ended.returncode, ended.stderr) == (1, f"{MEMORY}\n")


def test_little_address_space_is_enough_with_few_threads(tmp_path: Path) -> None:
    ended = limited(resource.RLIMIT_AS, 1200 << 20, [*RUN, "--html", "--out", "out"], tmp_path)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (0, "report: out/report.html")


@pytest.mark.skipif(not is_root(), reason="becomes another user, who has no processes yet")
@pytest.mark.parametrize("most", [1, 3, 6])
def test_too_few_processes(most: int, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    ended = limited(resource.RLIMIT_NPROC, most, RUN, tmp_path, tuple(AS_USER))
    assert (ended.returncode, ended.stderr) == (1, f"{THREADS}\n")


def test_too_few_descriptors_to_start(tmp_path: Path) -> None:
    ended = limited(resource.RLIMIT_NOFILE, 8, RUN, tmp_path)
    assert (ended.returncode, ended.stderr) == (1, f"{DESCRIPTORS}\n")


@needs_mptcp
@pytest.mark.parametrize("most", [12, 16, 18, 20, 22, 24, 26, 28, 30, 34, 40])
def test_too_few_descriptors_for_a_lab(most: int, tmp_path: Path) -> None:
    words = ["kernel" if word == "sim" else word for word in RUN]
    ended = limited(resource.RLIMIT_NOFILE, most, words, tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].endswith(DESCRIPTORS), ended.stderr
    assert "Traceback" not in ended.stderr
    assert "sim engine" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("client.eth: Too many open files (os error 24)", DESCRIPTORS),
        ("OSError: [Errno 24] Too many open files", DESCRIPTORS),
        ("the kernel refuses the program (Too many open files (os error 24))", DESCRIPTORS),
        (
            "Too many open files in system (os error 23)",
            "no file descriptors are left on this machine: raise fs.file-max",
        ),
        ("sh -c 'echo too many open files' ended with status 1", None),
        ("client.eth: No such device (os error 19)", None),
    ],
)
def test_words_of_other_processes_are_known(words: str, reason: str | None) -> None:
    assert told_by(words) == reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), MEMORY),
        (OSError(12, "x"), MEMORY),
        (BlockingIOError(11, "x"), THREADS),
        (RuntimeError("can't start new thread"), THREADS),
        (OSError(24, "x"), DESCRIPTORS),
        (ImportError("x.so: failed to map segment from shared object"), MEMORY),
    ],
)
def test_errors_of_python_are_known(error: BaseException, reason: str) -> None:
    assert shortage_of(error) == reason


def test_other_errors_are_no_shortage() -> None:
    for error in (OSError(2, "x"), RuntimeError("x"), ImportError("x"), ValueError("x")):
        assert shortage_of(error) is None


def test_where_there_is_plenty_nothing_is_refused() -> None:
    shortage.ask()
