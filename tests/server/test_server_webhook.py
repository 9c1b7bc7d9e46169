"""Troubles of agents, and the webhook that tells them."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.server.made import CONTACT, empty_result
from tests.server.running import run, started

from mptcplab.server.alerts import Kind, Rules, changes
from mptcplab.server.webhook import Webhook, WebhookError

SECRET = "a secret of the test"
OFTEN = """
from mptcplab.server.web import alerting
alerting.EVERY_S = 0.05
from mptcplab.cli import main
main()
"""
AGENT: dict[str, Any] = {
    "id": "a", "name": "van", "enrolled_ms": 0, "contact_ms": 1_000, "arrived_ms": None,
    "result": None, "outcome": None, "reason": None, "benefit": None,
}  # fmt: skip
RULES = Rules(silent_s=60, least_benefit=0.1)


def kinds(agent: dict[str, Any], told: set[tuple[str, str]], now_ms: int) -> dict[Kind, bool]:
    return {one.kind: one.begins for one in changes([agent], told, RULES, now_ms)}


def test_troubles_begin_and_end_once() -> None:
    assert kinds(AGENT, set(), 61_000) == {}
    assert kinds(AGENT, set(), 61_001) == {Kind.NO_DATA: True}
    assert kinds(AGENT, {("a", "no-data")}, 61_001) == {}
    assert kinds(AGENT, {("a", "no-data")}, 61_000) == {Kind.NO_DATA: False}
    # A result is a sign, too.
    assert kinds(AGENT | {"arrived_ms": 50_000}, set(), 61_001) == {}
    low = AGENT | {"outcome": "complete", "benefit": 0.09}
    assert kinds(low, set(), 0) == {Kind.BENEFIT: True}
    assert kinds(low | {"benefit": 0.1}, {("a", "benefit")}, 0) == {Kind.BENEFIT: False}
    failed = AGENT | {"outcome": "failed", "reason": "No way."}
    (one,) = changes([failed], set(), RULES, 0)
    assert one.text == "Its last experiment has failed: No way."
    assert changes([low], set(), Rules(60, None), 0) == []


@dataclass
class Receiver:
    """A server that answers as it is told to, and 200 afterwards."""

    port: int = 0
    answers: list[int] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    def until(self, count: int) -> list[tuple[str, dict[str, str], bytes]]:
        """All requests, once there are so many."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.asked) >= count, timeout=120)
            return list(self.asked)


@contextmanager
def receiving(*answers: int, location: str = "/") -> Iterator[Receiver]:
    receiver = Receiver(answers=list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with receiver.news:
                receiver.asked.append((self.path, dict(self.headers), body))
                status = receiver.answers.pop(0) if receiver.answers else 200
                receiver.news.notify_all()
            self.send_response(status)
            self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.port = server.server_port
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


def events(request: tuple[str, dict[str, str], bytes]) -> list[tuple[str, str, str]]:
    told = json.loads(request[2])
    return [(one["name"], one["kind"], one["state"]) for one in told["events"]]


def test_what_is_told_is_signed_and_told_until_it_is_taken(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    with (
        receiving() as other,
        receiving(500, 302, location=f"http://127.0.0.1:{other.port}/elsewhere") as receiver,
    ):
        options = (
            "--webhook", f"http://127.0.0.1:{receiver.port}/hook?to=ops",
            "--webhook-secret", str(tmp_path / "secret"),
            "--webhook-benefit", "0.9", "--webhook-silent", "1 h",
        )  # fmt: skip
        with started(tmp_path / "state", *options, code=OFTEN) as server:
            agent = server.enrolled(name="van")
            agent.contact(CONTACT)
            failed = empty_result("failed", agent=agent.id, sequence=0, reason="No way")
            assert agent.put(failed).status == 201
            path, headers, body = receiver.until(3)[2]
            # Intake goes on meanwhile.
            agent.sequence = 1
            assert agent.put(agent.result()).status == 201
            last = receiver.until(4)[3]
        with started(tmp_path / "state", *options, code=OFTEN) as server:
            agent.server = server
            assert agent.put(empty_result("failed", agent=agent.id, sequence=2)).status == 201
            again = receiver.until(5)[4]
        assert "redirects are not followed" in server.errors.read_text()
    assert path == "/hook?to=ops"
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["Mptcplab-Signature"] == f"sha256={signature}"
    assert events(receiver.asked[0]) == events((path, headers, body))
    assert events((path, headers, body)) == [("van", "failure", "begins")]
    assert json.loads(body)["events"][0]["text"] == "Its last experiment has failed: No way."
    assert events(last) == [("van", "failure", "ends"), ("van", "benefit", "begins")]
    # Alerts that were told before the restart are not told again.
    assert events(again) == [("van", "failure", "begins"), ("van", "benefit", "ends")]
    assert other.asked == []


@pytest.mark.parametrize(
    ("url", "is_good"),
    [
        ("https://hooks.example.org/a?b=c", True),
        ("http://127.0.0.1:8000/", True),
        ("http://[::1]/", True),
        ("http://localhost", True),
        ("http://hooks.example.org/", False),
        ("http://127.0.0.1.example.org/", False),
        ("https://user:word@hooks.example.org/", False),
        ("https://host:70000/", False),
        ("https://ho st/", False),
        ("https://host/\r\nX: y", False),
        ("file:///etc/passwd", False),
        ("https://", False),
    ],
)
def test_an_address_is_one_that_others_cannot_read(url: str, is_good: bool) -> None:
    if is_good:
        Webhook(url, SECRET)
    else:
        with pytest.raises(WebhookError):
            Webhook(url, SECRET)


def test_mistakes_of_the_webhook_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("short\n")
    good = ("--webhook", "https://h.example.org")
    for words, told in (
        (good, "give both"),
        (("--webhook-benefit", "0"), "give --webhook"),
        ((*good, "--webhook-secret", str(tmp_path / "none")), "none: "),
        ((*good, "--webhook-secret", str(tmp_path / "short")), "fewer than 16 letters"),
        (("--webhook", "ftp://x", "--webhook-secret", str(tmp_path / "short")), "write https://"),
        ((*good, "--webhook-secret", str(tmp_path / "short"), "--webhook-silent", "x"), "period"),
    ):
        printed = run("--state", str(tmp_path / "state"), *words, status=1)
        assert told in printed
        assert printed.count("\n") == 1
