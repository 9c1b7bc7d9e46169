"""A congestion control that somebody else compiled: loaded, named by a run, and unloaded."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import polars
import pytest
from tests.engine.cell import CELL, cell_refused
from tests.engine.launch import run
from tests.engine.system import needs_mptcp
from tests.engine.worlds import MPTCP, two_paths

from mptcplab.engine.kernel.coupled import load_refused
from mptcplab.recording import Recording

SOURCE = Path(__file__).with_name("own.bpf.c")
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
NAME = f"own.{os.getpid()}"
REFUSED = load_refused("wvegas")

needs_bpf = pytest.mark.skipif(REFUSED is not None, reason=str(REFUSED))
needs_clang = pytest.mark.skipif(shutil.which("clang") is None, reason="there is no clang")


def compiled(
    folder: Path,
    *words: str,
    section: str = ".struct_ops",
    structure: str = "tcp_congestion_ops",
    name: str = NAME,
    flags: tuple[str, ...] = ("-g",),
) -> Path:
    defined = {"SECTION": f'"{section}"', "STRUCTURE": structure, "NAME": f'"{name}"'}
    given = [f"-D{key}={value}" for key, value in defined.items()]
    file = folder / "own.bpf.o"
    compiler = ["clang", "--target=bpf", "-mcpu=v3", "-O2", *flags, *given, *words]
    subprocess.run([*compiler, "-c", SOURCE, "-o", file], check=True, capture_output=True)
    return file


@pytest.fixture
def unloaded(tmp_path: Path) -> Iterator[None]:
    """Nothing of this test's name stays in the kernel, however the test ends."""
    yield
    if NAME in AVAILABLE.read_text().split():
        run(["cc", "unload", NAME], tmp_path)


def refusal(folder: Path, file: str | Path) -> str:
    """The message of `cc load` about a file that it refuses, without the file's name."""
    ended = run(["cc", "load", str(file)], folder)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"{file}: ")
    return ended.stderr.removeprefix(f"{file}: ").removesuffix("\n")


@needs_mptcp
@needs_bpf
@needs_clang
@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("section", [".struct_ops", ".struct_ops.link"])
def test_a_run_has_what_was_loaded_from_a_file(section: str, tmp_path: Path) -> None:
    compiled(tmp_path, section=section)
    traffic = "traffic: [bulk: {from: client, to: server, duration: 1 s}]\n"
    file = two_paths(tmp_path, "own", traffic + MPTCP)
    file.write_text(
        file.read_text().replace("client: {", f"client: {{congestion_control: {NAME}, ")
    )
    words: list[str | Path] = ["run", file, "--engine", "kernel", "--out"]
    refused = run([*words, "refused"], tmp_path)
    assert refused.returncode == 1
    assert f"this kernel has no congestion control {NAME} (it has: " in refused.stderr
    assert "`mptcplab cc load FILE`" in refused.stderr

    loaded = run(["cc", "load", "own.bpf.o"], tmp_path)
    assert (loaded.returncode, loaded.stderr) == (0, "")
    assert loaded.stdout == f"{NAME}  loaded, until `mptcplab cc unload {NAME}`\n"
    listed = json.loads(run(["cc", "list", "--json"], tmp_path).stdout)
    assert {"name": NAME, "state": "loaded"} in listed
    assert {"name": "cubic", "state": "kernel"} in listed
    assert refusal(tmp_path, "./own.bpf.o") == (
        f"the kernel has {NAME} already: give yours another name, or unload what was loaded "
        f"(`mptcplab cc unload {NAME}`)"
    )
    # A user who may load nothing may use it.
    for prefix in [(), CELL] if cell_refused() is None else [()]:
        folder = f"out-{len(prefix)}"
        ended = run([*words, folder], tmp_path, prefix=prefix)
        assert ended.returncode == 0, ended.stderr
        samples = Recording.open(tmp_path / folder / "mptcp/1").frame("subflow_samples")
        of_client = samples.filter(polars.col("node") == "client")
        assert of_client["congestion_control"].unique().to_list() == [NAME]

    unloaded = run(["cc", "unload", NAME], tmp_path)
    assert (unloaded.returncode, unloaded.stderr) == (0, "")
    assert NAME not in AVAILABLE.read_text().split()
    again = run(["cc", "unload", NAME], tmp_path)
    assert (again.returncode, again.stderr) == (
        1,
        f"{NAME} is not loaded: `mptcplab cc list` shows what is\n",
    )


@needs_bpf
@needs_clang
@pytest.mark.usefixtures("unloaded")
def test_the_last_lines_of_the_verifier_are_told(tmp_path: Path) -> None:
    compiled(tmp_path, "-DMISTAKE")
    first, *lines = refusal(tmp_path, "own.bpf.o").splitlines()
    assert first.startswith(f"the kernel refuses {NAME} (")
    assert 1 < len(lines) <= 10
    assert all(line.startswith("  ") for line in lines)
    assert any("args[0]" in line or "own.bpf.c" in line for line in lines), lines
    assert first.endswith(lines[-1].strip())
    assert NAME not in AVAILABLE.read_text().split()


@needs_clang
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"section": ".data.other"},
            'registers nothing: it has no structure in SEC(".struct_ops")',
        ),
        (
            {"structure": "sched_ext_ops"},
            "registers own as struct sched_ext_ops, and not as tcp_congestion_ops or "
            "mptcp_sched_ops",
        ),
        (
            {"flags": ()},
            "does not describe its types (BTF): compile it with clang -g",
        ),
        (
            {"name": ""},
            "gives own no name: .name has 1 to 15 letters, digits, _ and .",
        ),
        (
            {"name": "my\\033[2Jcc"},
            "gives own no name: .name has 1 to 15 letters, digits, _ and .",
        ),
        (
            {"name": "lia"},
            "registers lia, which is one of mptcplab's own: give yours another name",
        ),
    ],
)
def test_an_object_that_is_not_one_to_load_is_refused(
    given: dict[str, str], words: str, tmp_path: Path
) -> None:
    compiled(tmp_path, **given)  # type: ignore[arg-type]
    assert refusal(tmp_path, "own.bpf.o") == words


@needs_clang
@pytest.mark.skipif(
    not Path("/sys/kernel/btf/vmlinux").exists()
    or b"bpf_struct_ops_mptcp_sched_ops" in Path("/sys/kernel/btf/vmlinux").read_bytes(),
    reason="this kernel takes schedulers by BPF, or does not tell",
)
def test_a_scheduler_is_refused_where_the_kernel_takes_none(tmp_path: Path) -> None:
    compiled(tmp_path, structure="mptcp_sched_ops")
    assert refusal(tmp_path, "own.bpf.o") == (
        f"registers {NAME}, and this kernel takes no MPTCP schedulers by BPF: its types have no "
        "struct bpf_struct_ops_mptcp_sched_ops"
    )


def test_a_file_that_is_no_object_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.o").write_text("secret\n")
    os.mkfifo(tmp_path / "pipe.o")
    with (tmp_path / "large.o").open("wb") as file:
        file.truncate((16 << 20) + 1)
    (tmp_path / "short.o").write_bytes(b"\x7fELF")
    (tmp_path / "folder").mkdir()
    not_elf = "is no object file (ELF): compile it with clang --target=bpf -g -c"
    assert refusal(tmp_path, "text.o") == not_elf
    assert refusal(tmp_path, "/dev/null") != ""
    assert "it is a pipe" in refusal(tmp_path, "pipe.o")
    assert refusal(tmp_path, "large.o") == "larger than 16 MiB"
    assert "damaged" in refusal(tmp_path, "short.o")
    assert refusal(tmp_path, "none.o") == "cannot be read (No such file or directory)"
    assert refusal(tmp_path, "./folder") == "cannot be read (Is a directory)"
    program = shutil.which("true")
    assert program is not None
    assert "is no BPF object for this machine (ELF for machine " in refusal(tmp_path, program)


@needs_clang
@pytest.mark.skipif(cell_refused() is not None, reason=str(cell_refused()))
def test_who_may_not_load_it_is_told_why(tmp_path: Path) -> None:
    compiled(tmp_path)
    ended = run(["cc", "load", "./own.bpf.o"], tmp_path, prefix=CELL)
    assert ended.returncode == 1
    assert ended.stderr.startswith("./own.bpf.o: BPF")
    assert "BPF is not permitted here: run as root" in ended.stderr or "libbpf" in ended.stderr
