"""`mptcplab controller` and Open vSwitch: three bridges, two hosts, connections of MPTCP."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.controller.bridges import missing, played

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

_CERTIFICATES = """
{
    new="openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    $new -x509 -days 2 -subj /CN=switches -keyout ca-key.pem -out ca.pem
    echo basicConstraints=CA:FALSE > extensions
    for name in controller switch; do
        $new -subj /CN=$name -keyout $name-key.pem -out $name.csr
        openssl x509 -req -in $name.csr -extfile extensions -CA ca.pem -CAkey ca-key.pem \
            -CAcreateserial -days 2 -out $name.pem
    done
} 2> openssl.log
vsctl set-ssl $PWD/switch-key.pem $PWD/switch.pem $PWD/ca.pem
"""
_TLS = "--tls-ca ca.pem --tls-cert controller.pem --tls-key controller-key.pem"


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one for one in events if one["event"] == kind]


def test_by_tls_subflows_take_disjoint_paths(tmp_path: Path) -> None:
    printed, events = played(
        tmp_path,
        f"""{_CERTIFICATES}
        mptcplab controller --json --policy disjoint {_TLS} > events & serving=$!
        controller ssl:127.0.0.1:6653
        await link_up 3
        on $server mptcplab nc -u -w 5 -l 10.0.0.2 9 > datagram & receiving=$!
        sleep 1
        printf 'a datagram' | on $client mptcplab nc -u -w 5 10.0.0.2 9
        wait $receiving || true
        cat datagram; echo
        on $server mptcplab nc -l 80 > received & receiving=$!
        sleep 1
        head -c 3000000 /dev/zero | on $client mptcplab nc -N 10.0.0.2 80
        wait $receiving
        wc -c < received
        vsctl --bare --columns=role,is_connected list controller
        await '"closed".*"bytes": *[0-9][0-9][0-9][0-9][0-9][0-9][0-9]' 1
        kill -INT $serving
        wait $serving
        """,
    )
    assert printed[0] == "a datagram"
    assert printed[1].strip() == "3000000"
    assert Counter(printed[2:])["master"] == 3
    assert of_kind(events, "listening")[0]["transport"] == "tls"
    placed = [one for one in of_kind(events, "placed") if one["protocol"] == 6]
    assert [one["path"] for one in placed] == [
        ["0000000000000001:1-0000000000000003:1"],
        [
            "0000000000000001:2-0000000000000002:1",
            "0000000000000002:2-0000000000000003:2",
        ],
    ]
    # Idle rules, as Open vSwitch tells of them, end the connection, and have its bytes.
    closed = [one["bytes"] for one in of_kind(events, "closed")]
    assert any(bytes_ >= 2_800_000 for bytes_ in closed), closed
    assert not of_kind(events, "not_master") + of_kind(events, "not_installed")


def test_a_link_that_fails_moves_its_subflow_and_a_new_controller_takes_over(
    tmp_path: Path,
) -> None:
    printed, events = played(
        tmp_path,
        """
        mptcplab controller --json --policy shortest > events & serving=$!
        controller tcp:127.0.0.1:6653
        await link_up 3
        on $server mptcplab nc -l 10.0.0.2 80 > received & receiving=$!
        sleep 1
        mkfifo data
        on $client mptcplab nc --tcp -N 10.0.0.2 80 < data & sending=$!
        exec 3> data
        head -c 100000 /dev/zero >&3
        await placed.*10.0.0.2:80 1
        ip link set s1-1 down
        await moved.*10.0.0.2:80 1
        head -c 100000 /dev/zero >&3
        kill -INT $serving; wait $serving
        head -c 100000 /dev/zero >&3
        mptcplab controller --json --policy shortest >> events 3>&- & serving=$!
        await switch_up 6
        head -c 100000 /dev/zero >&3
        exec 3>&-
        wait $sending; wait $receiving
        wc -c < received
        kill -INT $serving; wait $serving
        """,
    )
    assert printed == ["400000"]
    (moved,) = [one for one in of_kind(events, "moved") if one["protocol"] == 6]
    assert [link.partition(":")[0] for link in moved["path"]] == [
        "0000000000000001",
        "0000000000000002",
    ]
    # The second controller has the next generation of masters.
    assert len(of_kind(events, "listening")) == 2
    assert not of_kind(events, "not_master")
