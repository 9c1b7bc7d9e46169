"""Plays tests in Ryu's notation on our switch, and on Open vSwitch where it is installed.

Prints, by kind of test, how many each passes, fails and refuses; before that each test of which the
two make something else, and each that our switch fails, or refuses though it is about neither MPLS
nor backbone bridges. Ends with status 1 where there is one of the latter.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from tests.openflow import cases, open_vswitch
from tests.openflow.ours import Ours
from tests.openflow.play import Result, is_conforming, play
from tests.openflow.switch import Switch


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.openflow", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the tests, *.json")
    parser.add_argument("--ours", action="store_true", help="leave Open vSwitch out")
    arguments = parser.parse_args()
    absent = "as asked" if arguments.ours else open_vswitch.missing()
    with ExitStack() as ends:
        switches: list[Switch] = [ends.enter_context(Ours())]
        if absent is None:
            switches.append(ends.enter_context(open_vswitch.OpenVSwitch()))
        else:
            print(f"Open vSwitch is left out: {absent}")
        try:
            return compare(arguments.folder, *switches)
        except ValueError as error:
            parser.error(str(error))


def compare(folder: Path, ours: Switch, *others: Switch) -> int:
    """Prints the differences and the table, and returns the status."""
    counts: Counter[tuple[str, str, Result]] = Counter()
    status = 0
    for case in cases.read(folder):
        verdicts = {switch.name: play(switch, case) for switch in (ours, *others)}
        counts.update((case.kind, name, verdict.result) for name, verdict in verdicts.items())
        conforms = is_conforming(case, verdicts[ours.name])
        if not conforms or len({verdict.result for verdict in verdicts.values()}) > 1:
            print(f"{case.file}: {case.description}")
            for name, verdict in verdicts.items():
                print(f"  {name}: {verdict.result} {verdict.reason}".rstrip())
        status = max(status, int(not conforms))
    print(f"{'':10}{'':16}" + "".join(f"{result:>9}" for result in Result))
    for kind in sorted({kind for kind, _, _ in counts}):
        for switch in (ours, *others):
            numbers = "".join(f"{counts[kind, switch.name, result]:9}" for result in Result)
            print(f"{kind:10}{switch.name:16}{numbers}")
    return status


if __name__ == "__main__":
    sys.exit(main())
