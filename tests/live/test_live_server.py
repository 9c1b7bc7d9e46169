"""The page of a run that goes on, over HTTP."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tests.engine.launch import wait_for
from tests.live.rows import serving, session, steady

from mptcplab.live.server import MOST_AT_ONCE, Server, is_loopback_name, question


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


def ask(
    server: Server, path: str, method: str = "GET", **headers: str
) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer, answer.read().decode()


def test_the_page_has_a_strict_policy_and_escapes_words(server: Server) -> None:
    answer, text = ask(server, "/")
    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "wifi &lt;b&gt;down&lt;/b&gt;" in text
    assert "<b>" not in text
    assert "out/x" in text


def test_news_are_what_the_reader_does_not_have(server: Server) -> None:
    _, text = ask(server, "/newest?state=0.2&since=39,40")
    told = json.loads(text)
    assert told["samples"] == [41, 41]
    assert [len(points) for points in told["points"]] == [2, 1]
    at_s, mbps = told["points"][1][0]
    assert (at_s, mbps) == (4.0, pytest.approx(80.0))
    assert told["range"][0] == [0.0, 10.0]
    assert "wifi &lt;b&gt;down&lt;/b&gt;" in told["shown"]["events"]
    server.session.watched(0, steady(4.1, wifi=20.0, eth=80.0)[-2:])
    assert json.loads(ask(server, "/newest?state=0.2&since=41,41")[1])["samples"] == [42, 42]


def test_a_page_of_another_run_is_told_to_come_anew(server: Server) -> None:
    server.session.begun(1, "another", 5.0)
    told = json.loads(ask(server, "/newest?state=0.2&since=39,40")[1])
    assert told == {"state": "1.0", "ended": False}


def test_before_the_first_run_there_is_a_page(server: Server) -> None:
    server.session._courses.clear()
    assert "No run yet" in ask(server, "/")[1]
    told = json.loads(ask(server, "/newest?state=&since=")[1])
    assert "has not begun" in told["shown"]["progress"]


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/etc/passwd", "GET", {}, 404),
        ("/../x", "GET", {}, 404),
        ("/newest?since=x", "GET", {}, 400),
        ("/newest?since=-1", "GET", {}, 400),
        ("/newest?state=a&state=b", "GET", {}, 400),
        ("/newest?since=" + "1," * 2000, "GET", {}, 400),
        ("/", "POST", {}, 501),
        ("/", "GET", {"Host": "evil.example:80"}, 403),
        ("/newest", "GET", {"Host": "evil.example"}, 403),
        ("/", "GET", {"Host": "[::1"}, 403),
        ("http://[", "GET", {"Host": "127.0.0.1"}, 400),
    ],
)
def test_other_questions_are_refused(
    server: Server, path: str, method: str, headers: dict[str, Any], status: int
) -> None:
    answer, _ = ask(server, path, method, **headers)
    assert answer.status == status
    assert answer.headers["Server"] == "mptcplab"


def test_connections_that_ask_nothing_are_few(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.RequestHandlerClass, "timeout", 240)
    where = ("127.0.0.1", server.server_address[1])
    with ExitStack() as held:
        for _ in range(MOST_AT_ONCE):
            held.enter_context(socket.create_connection(where, timeout=60))
        further = held.enter_context(socket.create_connection(where, timeout=60))
        assert further.recv(1) == b""
    wait_for("a place", lambda: server.places.acquire(blocking=False))
    server.places.release()
    assert ask(server, "/")[0].status == 200


def test_no_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_up(*_: object) -> str:
        raise AssertionError("a nameserver may be asked")

    monkeypatch.setattr(socket, "getfqdn", looked_up)
    made = Server(session(), "127.0.0.1", 0)
    made.end()


def test_names_of_the_loopback() -> None:
    assert all(map(is_loopback_name, ("localhost:1", "127.0.0.1", "127.1.2.3:80", "[::1]:80")))
    others = (
        "",
        "[::1",
        "localhost.evil.example",
        "10.0.0.1",
        "127.0.0.1.evil.example:1",
        "[::2]:1",
    )
    assert not any(map(is_loopback_name, others))


def test_a_question_says_how_many_samples_there_are() -> None:
    assert question("state=3.1&since=4,5") == ("3.1", [4, 5])
    assert question("") == ("", [])


def test_a_page_that_is_open_is_told_of_the_end(server: Server) -> None:
    ask(server, "/newest?state=0.2&since=39,40")
    assert not server.has_told.is_set()
    server.session.folders.append("out/a b")
    server.session.has_ended = True
    told = json.loads(ask(server, "/newest?state=0.2&since=39,40")[1])
    assert told["ended"]
    command = "mptcplab report out/x &#39;out/a b&#39;"
    assert command in told["shown"]["progress"]
    # It is noted once the answer is on its way.
    assert server.has_told.wait(10)
