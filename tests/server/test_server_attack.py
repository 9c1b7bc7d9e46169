"""Requests of strangers, and of agents and people that want more than is theirs."""

from __future__ import annotations

import re
import socket
from urllib.parse import quote

import pytest
from tests.server.made import CONTACT, ENROLMENT, PLAN, encoded, made_result
from tests.server.running import Agent, Running

from mptcplab.server.contact import Role
from mptcplab.server.web.call import Access, Operation
from mptcplab.server.web.operations import OPERATIONS

SECRET = "A" * 43
HTML = "<script>alert(1)</script><img src=x onerror=alert(1)>"
SQL = "'; DROP TABLE results; --"
PROTECTED = [one for one in OPERATIONS if one.access is not None]


def shown(one: Operation) -> str:
    return f"{one.method} {one.path}"


def place(one: Operation, name: str = "x") -> str:
    return re.sub(r"{\w+}", name, one.path)


def tables(server: Running) -> dict[str, int]:
    """Rows of each table, read by another program."""
    import sqlite3

    with sqlite3.connect(server.state / "server.db") as database:
        names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {
            name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
            for (name,) in names
        }


@pytest.mark.parametrize("one", PROTECTED, ids=shown)
def test_nothing_is_read_or_changed_without_a_secret(server: Running, one: Operation) -> None:
    before = tables(server)
    body = encoded({}) if one.body is not None else None
    for secret in (None, SECRET, "", "x y", "'", "é"):
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        answer = server.request(one.method, place(one), body, headers=headers)
        assert answer.status == 401
        assert set(answer.json) == {"error"}
    assert tables(server) == before


@pytest.mark.parametrize("one", PROTECTED, ids=shown)
def test_each_kind_of_secret_is_good_for_its_own_operations_alone(
    server: Running, one: Operation
) -> None:
    agent = server.enrolled()
    body = encoded({}) if one.body is not None else None
    for secret, kind in ((agent.secret, Access.AGENT), (server.enrolment(), Access.ENROLMENT)):
        if one.access != kind:
            assert server.request(one.method, place(one), body, secret).status == 401
    if not isinstance(one.access, Role):
        assert server.request(one.method, place(one), body, server.admin).status == 401
        return
    for role in Role:
        answer = server.request(one.method, place(one), body, server.token(role.value))
        assert (answer.status == 403) is not role.may(one.access)


def test_a_viewer_does_not_see_the_tokens_of_targets(server: Running) -> None:
    server.request("PUT", "/api/v1/plans/secret", encoded(PLAN), server.admin)
    viewer = server.token("viewer")
    for path in ("/api/v1/plans/secret", "/api/v1/plans"):
        assert b"mptcplab1-" in server.get(path).body
        assert b"mptcplab1-" not in server.get(path, viewer).body


def test_no_secret_is_kept_in_clear(server: Running) -> None:
    agent, token, enrolment = server.enrolled(), server.token("viewer"), server.enrolment()
    kept = b"".join(file.read_bytes() for file in server.state.glob("server.db*"))
    for secret in (agent.secret, token, enrolment, server.admin):
        assert secret.encode() not in kept


@pytest.mark.parametrize("name", ["..", "../../agents", "%2e%2e%2fagents", "a/b", "\0", "a" * 3000])
def test_no_name_leads_elsewhere(server: Running, name: str) -> None:
    told = quote(name, safe="%/")
    agent = server.enrolled()
    before = tables(server)
    body = encoded(agent.result())
    answer = agent.put_bytes(told, body)
    assert answer.status in (404, 405, 422)
    for kind in ("results", "agents", "plans"):
        assert server.get(f"/api/v1/{kind}/{told}").status in (401, 404)
    put = server.request("PUT", f"/api/v1/plans/{told}", encoded(PLAN), server.admin)
    assert put.status in (404, 405, 422)
    assert tables(server) == before


def test_stored_html_is_data(server: Running) -> None:
    agent = server.enrolled(name=HTML, version=HTML, kernel=HTML)
    told = agent.result(reason=HTML, boot=HTML, sent_options=[HTML])
    told["host"] |= {"version": HTML, "kernel": HTML}
    told["paths"][0]["interface"] = HTML
    assert agent.put(told).status == 201
    contact = CONTACT | {"problem": HTML, "version": HTML, "kernel": HTML}
    contact["quarantined"] = [{"id": HTML, "reason": HTML}]
    assert agent.contact(contact).status == 200
    own = f"/api/v1/results/{told['id']}"
    for path in ("/api/v1/agents", f"/api/v1/agents/{agent.id}", own, f"{own}/summary"):
        answer = server.get(path)
        assert HTML in answer.body.decode()
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert HTML.encode() not in server.get("/").body


def test_metacharacters_of_sql_are_data(server: Running) -> None:
    agent = server.enrolled(name=SQL)
    assert agent.put(agent.result(reason=SQL)).status == 201
    before = tables(server)
    for path in ("agents/", "plans/", "results/", "results?agent=", "results?plan="):
        answer = server.get(f"/api/v1/{path}{quote(SQL)}")
        assert answer.status in (200, 404)
    assert tables(server) == before
    assert SQL in [one["name"] for one in server.get("/api/v1/agents").json["agents"]]


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"name": NaN, "version": "1", "kernel": "1"}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"[" + b"[]," * 80_000 + b"[]]",
        b'"' + b"x" * 200_000 + b'"',
        encoded(ENROLMENT | {"more": 1}),
        encoded(ENROLMENT | {"name": 7}),
        encoded(ENROLMENT | {"name": ""}),
        encoded(ENROLMENT | {"name": "x" * 101}),
        encoded(ENROLMENT | {"name": "\x1b[2J"}),
        encoded(ENROLMENT | {"name": "a\u202eb"}),
        encoded([ENROLMENT]),
    ],
)
def test_bodies_that_are_none_are_refused_in_one_sentence(server: Running, told: bytes) -> None:
    answer = server.request("POST", "/api/v1/enrol", told, server.enrolment())
    assert answer.status in (400, 422)
    assert "\n" not in answer.error
    assert len(answer.error) <= 320


def test_a_body_that_is_too_large_is_refused(server: Running) -> None:
    agent = server.enrolled()
    path = f"/api/v1/agent/results/{made_result()['id']}"
    answer = server.request("PUT", path, b"x" * (5 << 20), agent.secret)
    assert answer.status == 413
    assert _endless(server, agent, path) in (b"HTTP/1.1 413", b"")


def _endless(server: Running, agent: Agent, path: str) -> bytes:
    """The status line of the answer to a body without an end; empty where it was cut off."""
    chunk = b"x" * 65_536
    with server.socket() as connection:
        connection.sendall(
            f"PUT {path} HTTP/1.1\r\nHost: x\r\nMptcplab-Protocol: 1\r\n"
            f"Authorization: Bearer {agent.secret}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        try:
            # Many times as much as is ever taken.
            for _ in range(2_000):
                connection.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        except OSError:
            pass
        else:
            raise AssertionError("130 MB were taken")
        try:
            return connection.recv(12)
        except OSError:
            return b""


@pytest.mark.parametrize(
    "sent", [b"GET / HTTP/1.1\r\nA: " + b"x" * 100_000, b"x" * 100_000, b"\0\xff\r\n\r\n"]
)
def test_a_head_that_is_none_is_cut_off(server: Running, sent: bytes) -> None:
    with server.socket() as connection:
        received = b""
        try:
            connection.sendall(sent)
            while part := connection.recv(4096):
                received += part
        except OSError:
            pass
        assert received == b"" or received.startswith(b"HTTP/1.1 400 ")


def test_plain_http_and_older_tls_get_nothing(server: Running) -> None:
    import ssl

    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" not in connection.recv(100)
    older = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    older.check_hostname = False
    older.verify_mode = ssl.CERT_NONE
    older.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        older.wrap_socket(connection)


def test_health_and_the_first_page_tell_nothing_else(server: Running) -> None:
    health = server.request("GET", "/health")
    assert (health.status, health.json) == (200, {"status": "ok"})
    page = server.request("GET", "/")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "access-control-allow-origin" not in page.headers
    assert "server" not in page.headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v2/agents", 404),
        ("GET", "/api/v1/plans/", 404),
        ("PATCH", "/api/v1/plans", 405),
        ("TRACE", "/", 405),
        ("OPTIONS", "/api/v1/agents", 405),
    ],
)
def test_other_paths_and_methods_are_refused(
    server: Running, method: str, path: str, status: int
) -> None:
    answer = server.request(method, path, secret=server.admin)
    assert answer.status == status
    assert set(answer.json) == {"error"}
