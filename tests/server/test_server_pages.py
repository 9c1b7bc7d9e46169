"""The dashboard over TLS: signing in and out, its pages, and hostile text in every field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tests.server.made import CONTACT, PLAN, empty_result, encoded
from tests.server.running import Answer, Running, run

from mptcplab.server.contact import Role
from mptcplab.server.pages.signing import COOKIE
from mptcplab.server.secret import new_secret
from mptcplab.server.store import people, sessions
from mptcplab.server.store.sqlite import SqliteDatabase

HTML = "\"'></script><script>alert(1)</script><img src=x onerror=alert(1)>"
OWN = {"Sec-Fetch-Site": "same-origin"}
PAGES = ("/plans", "/agents/0123456789abcdef", "/results/x")


def signed(
    server: Running, token: str, target: str = "/", headers: dict[str, str] | None = None
) -> Answer:
    body = urlencode({"token": token, "target": target}).encode()
    return server.request("POST", "/sign-in", body, headers=OWN if headers is None else headers)


def cookie(server: Running, token: str | None = None) -> dict[str, str]:
    answer = signed(server, token or server.token("viewer"))
    assert answer.status == 303, answer
    return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


def page(server: Running, path: str, own: dict[str, str], status: int = 200) -> str:
    answer = server.request("GET", path, headers=own)
    assert answer.status == status, answer
    assert answer.headers["content-type"].startswith("text/html")
    return answer.body.decode()


def test_strangers_find_a_form_and_nothing_else(server: Running) -> None:
    agent = server.enrolled(name="secret-name")
    first = server.request("GET", "/")
    assert first.status == 200
    assert 'name="token"' in first.body.decode()
    for path in (*PAGES, f"/agents/{agent.id}"):
        for headers in ({}, {"Cookie": f"{COOKIE}=x"}, {"Authorization": f"Bearer {server.admin}"}):
            answer = server.request("GET", path, headers=headers)
            assert answer.status == 401
            assert "secret-name" not in answer.body.decode()


def test_a_session_is_the_browsers_alone_and_ends(server: Running) -> None:
    answer = signed(server, server.token("viewer"), "/plans")
    assert (answer.status, answer.headers["location"]) == (303, "/plans")
    told = answer.headers["set-cookie"].lower()
    assert told.startswith("__host-")
    for word in ("secure", "httponly", "samesite=strict", "path=/"):
        assert word in told
    own = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
    assert "<h1>Agents</h1>" in page(server, "/", own)
    assert server.request("POST", "/sign-out", b"", headers=own | OWN).status == 303
    assert 'name="token"' in page(server, "/", own)


def test_a_token_that_is_revoked_ends_its_sessions(server: Running) -> None:
    made = server.request(
        "POST", "/api/v1/tokens", encoded({"name": "gone", "role": "viewer"}), server.admin
    ).json
    own = cookie(server, made["secret"])
    page(server, "/plans", own)
    server.request("DELETE", f"/api/v1/tokens/{made['id']}", secret=server.admin)
    page(server, "/plans", own, 401)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_forms_of_other_sites_do_nothing(server: Running, headers: dict[str, str]) -> None:
    answer = signed(server, server.admin, headers=headers)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    own = cookie(server)
    assert server.request("POST", "/sign-out", b"", headers=own | headers).status == 403
    page(server, "/plans", own)


@pytest.mark.parametrize("body", [b"", b"token=", b"token=\xff", b"a&b&c&d&e", b"token=%ff"])
def test_a_form_that_is_none_signs_nobody_in(server: Running, body: bytes) -> None:
    answer = server.request("POST", "/sign-in", body, headers=OWN)
    assert answer.status == 403
    assert "unknown" in answer.body.decode()
    assert server.request("POST", "/sign-in", b"x" * 5_000, headers=OWN).status == 413


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil", "/x\n"])
def test_signing_in_leads_nowhere_else(server: Running, target: str) -> None:
    assert signed(server, server.admin, target).headers["location"] == "/"


def test_pages_hold_what_the_api_has(server: Running) -> None:
    agent = server.enrolled(name="car-7")
    told = agent.result()
    assert agent.put(told).status == 201
    failed = empty_result("failed", agent=agent.id, sequence=4)
    assert agent.put(failed).status == 201
    agent.contact(CONTACT | {"next_sequence": 5, "spooled": 1})
    server.request("PUT", "/api/v1/plans/lines", encoded(PLAN), server.admin)
    own = cookie(server)
    assert f'href="/agents/{agent.id}">car-7</a>' in page(server, "/", own)
    shown = page(server, f"/agents/{agent.id}", own)
    assert f'href="/results/{told["id"]}"' in shown
    assert "Sequence numbers that are not here: 1 to 3." in shown
    shown = page(server, f"/results/{told['id']}", own)
    for sentence in server.get(f"/api/v1/results/{told['id']}/summary").json["verdict"]:
        assert sentence in shown
    assert "Time of transfers down" in shown
    assert "The target is not reached" in page(server, f"/results/{failed['id']}", own)
    shown = page(server, "/plans", own)
    assert "t.example.org:4420" in shown
    assert PLAN["target"]["token"] not in shown
    for path in PAGES[1:]:
        page(server, path, own, 404)
    for query in ("days=x", "days=-1", "size=99", "before=1e9", "before=9" + 14 * "9"):
        page(server, f"/agents/{agent.id}?{query}", own)


def test_an_explanation_stands_on_the_page_of_its_result(server: Running) -> None:
    agent = server.enrolled()
    told = agent.result()
    assert agent.put(told).status == 201
    own = cookie(server)
    words = ("explain", told["id"], "--state", str(server.state))
    shown = page(server, f"/results/{told['id']}", own)
    assert f"mptcplab server explain {told['id']}" in shown
    assert ">Why</h2>" not in shown
    explained = json.loads(run(*words, "--json"))
    assert [one["interface"] for one in explained["links"]] == ["wifi", "lte"]
    # TCP alone has 8 and 4 Mbit/s, less what its windows and headers take.
    assert 8 < explained["links"][0]["rate_mbps"] < 10
    assert 4 < explained["links"][1]["rate_mbps"] < 5
    shown = page(server, f"/results/{told['id']}", own)
    assert ">Why</h2>" in shown
    assert "The fitted paths" in shown
    assert "where 10 were measured" in shown
    assert "where 10 were measured" in run(*words)
    failed = empty_result("failed", agent=agent.id, sequence=4)
    assert agent.put(failed).status == 201
    error = run("explain", failed["id"], "--state", str(server.state), status=1)
    assert "only one path reaches the target" in error or "no size has times" in error


def test_charts_are_of_one_congestion_control(server: Running) -> None:
    agent = server.enrolled(name="car-7")
    now_ms = agent.contact(CONTACT).json["now_unix_ms"]
    for control in ("bbr", "reno"):
        told = agent.result(congestion_control=control, began_unix_ms=now_ms - 60_000)
        assert agent.put(told).status == 201
    own = cookie(server)
    shown = page(server, f"/agents/{agent.id}?days=1&control=bbr", own)
    assert "All of results with bbr." in shown
    assert "control=reno" in shown
    # Unless one is chosen, that of the last result.
    for query in ("", "?control=none"):
        assert "All of results with reno." in page(server, f"/agents/{agent.id}{query}", own)
    shown = page(server, f"/results/{told['id']}", own)
    assert "<dt>congestion control</dt><dd>reno</dd>" in shown
    plan = PLAN | {"congestion_control": ["reno", "bbr"]}
    server.request("PUT", "/api/v1/plans/lines", encoded(plan), server.admin)
    assert "with reno and bbr" in page(server, "/plans", own)


def test_stored_html_is_text_on_every_page(server: Running) -> None:
    agent = server.enrolled(name=HTML, version=HTML, kernel=HTML)
    hostile = HTML[:90]
    # Now by the clock of the server, so that the charts have it.
    now_ms = agent.contact(CONTACT).json["now_unix_ms"]
    told = agent.result(reason=HTML, outcome="partial", boot=HTML, began_unix_ms=now_ms - 60_000)
    told["host"] |= {"version": HTML, "kernel": HTML}
    for path in told["paths"]:
        path["interface"] = f"{hostile}{path['index']}"
    told["left_out"] = [told["paths"][0]]
    told["sent_options"] = [HTML]
    assert agent.put(told).status == 201
    contact = CONTACT | {"problem": HTML, "version": HTML, "kernel": HTML}
    contact["quarantined"] = [{"id": HTML, "reason": HTML}]
    contact["paths"] = [{"interface": HTML, "source": "10.0.1.1"}]
    assert agent.contact(contact).status == 200
    person = server.request(
        "POST", "/api/v1/tokens", encoded({"name": HTML, "role": "viewer"}), server.admin
    ).json
    own = cookie(server, person["secret"])
    for path in ("/", f"/agents/{agent.id}", f"/results/{told['id']}", "/plans"):
        shown = page(server, path, own)
        assert "alert(1)" in shown
        assert "<script>alert" not in shown
        assert "<img" not in shown
        # Data and the one script, which is a file.
        assert len(re.findall(r"</script", shown)) == 2
        policy = server.request("GET", path, headers=own).headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy


def test_a_clock_of_an_agent_that_is_wrong_spoils_no_page(server: Running) -> None:
    agent = server.enrolled()
    for began in (0, 2**53):
        assert agent.put(agent.result(began_unix_ms=began)).status == 201
    own = cookie(server)
    for path in ("/", f"/agents/{agent.id}", f"/agents/{agent.id}?days=365", "/plans"):
        page(server, path, own)


def test_files_are_kept_by_browsers_and_pages_are_not(server: Running) -> None:
    shown = server.request("GET", "/")
    assert shown.headers["cache-control"] == "no-store"
    for path in re.findall(r'"(/assets/[^"]+)"', shown.body.decode()):
        assert "immutable" in server.request("GET", path).headers["cache-control"]
    assert server.request("GET", "/assets/x.js").status == 404


def test_sessions_are_bounded_and_end_by_the_clock(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "server.db").connect()
    for name in "abc":
        people.add(database, name, Role.VIEWER, name, 0)

    def begun(name: str, now_ms: int) -> str:
        secret = new_secret()
        found = people.of_secret(database, name)
        assert found is not None
        sessions.begin(database, found.id, secret, now_ms)
        return secret

    def name_of(secret: str, now_ms: int) -> str | None:
        found = sessions.person(database, secret, now_ms)
        return None if found is None else found.name

    lasts_ms = sessions.LASTS_S * 1_000
    first = begun("a", 5)
    assert name_of(first, 5 + lasts_ms - 1) == "a"
    assert name_of(first, 5 + lasts_ms) is None
    # By a clock that was ahead it would have lasted for longer.
    assert name_of(first, 4) is None
    kept = begun("b", 5)
    for _ in range(sessions.MOST_SESSIONS - 1):
        begun("c", 6)
    assert (name_of(first, 6), name_of(kept, 6)) == (None, "b")
    begun("c", 6)
    assert name_of(kept, 6) is None
    begun("a", 6 + lasts_ms)
    assert [
        row["number"] for row in database.execute("SELECT count(*) AS number FROM sessions")
    ] == [1]
    database.close()


def test_a_session_outlasts_the_server_and_no_restore(
    start: Callable[..., Running], tmp_path: Path
) -> None:
    server = start()
    own = cookie(server)
    state, file = str(server.state), str(tmp_path / "backup.db")
    run("backup", file, "--state", state)
    secret = own["Cookie"].partition("=")[2]
    kept = b"".join(one.read_bytes() for one in server.state.glob("server.db*"))
    assert secret.encode() not in kept
    server.end()
    again = start()
    page(again, "/plans", own)
    again.end()
    run("restore", file, "--state", state)
    page(start(), "/plans", own, 401)
