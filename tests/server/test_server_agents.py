"""Agents of a server: enrolment, plans, contact."""

from __future__ import annotations

import hashlib
import sqlite3
import ssl
import time
from collections.abc import Callable

import pytest
from tests.server.made import CONTACT, ENROLMENT, PLAN, encoded, made_result
from tests.server.running import Running, run, secret_of, told_by

from mptcplab.server.secret import new_secret


def test_the_token_of_enrolment_carries_the_fingerprint(server: Running) -> None:
    line = run("enrol", "--state", str(server.state)).strip()
    assert "\n" not in line
    told = told_by(line)
    assert set(told) == {"url", "fingerprint", "secret"}
    assert told["url"] == f"https://127.0.0.1:{server.port}"
    with server.socket() as connection:
        assert isinstance(connection, ssl.SSLSocket)
        shown = connection.getpeercert(binary_form=True)
        assert shown is not None
        assert hashlib.sha256(shown).hexdigest() == told["fingerprint"]
        assert connection.version() == "TLSv1.3"
    answer = server.request("POST", "/api/v1/enrol", encoded(ENROLMENT), told["secret"])
    assert answer.status == 201
    assert set(answer.json) == {"agent", "secret"}


def test_an_enrolment_token_is_good_for_so_many_agents(server: Running) -> None:
    secret = server.enrolment(agents=2)
    statuses = [
        server.request("POST", "/api/v1/enrol", encoded(ENROLMENT), secret).status for _ in range(3)
    ]
    assert statuses == [201, 201, 401]


def test_an_agent_whose_answer_was_lost_is_the_same_again(server: Running) -> None:
    secret, own = server.enrolment(agents=2), new_secret()
    body = encoded(ENROLMENT | {"own_secret": own})
    answers = [server.request("POST", "/api/v1/enrol", body, secret) for _ in range(3)]
    assert [answer.status for answer in answers] == [201] * 3
    agent = answers[0].json["agent"]
    assert all(answer.json == {"agent": agent, "secret": own} for answer in answers)
    assert server.request("POST", "/api/v1/enrol", encoded(ENROLMENT), secret).status == 201
    # Used up for others, and for those that are revoked.
    assert server.request("POST", "/api/v1/enrol", encoded(ENROLMENT), secret).status == 401
    assert server.request("POST", "/api/v1/enrol", body, secret).json["agent"] == agent
    assert server.get("/api/v1/agent/plans", own).status == 200
    run("revoke", agent, "--state", str(server.state))
    assert server.request("POST", "/api/v1/enrol", body, secret).status == 401
    assert server.request("POST", "/api/v1/enrol", body, server.enrolment()).status == 401


@pytest.mark.parametrize("own", ["", "A" * 42, "A" * 45, "A" * 42 + "/", "A" * 43 + "\n", 7])
def test_a_secret_of_an_agent_is_one_of_32_bytes(server: Running, own: object) -> None:
    secret = server.enrolment()
    body = encoded(ENROLMENT | {"own_secret": own})
    assert server.request("POST", "/api/v1/enrol", body, secret).status == 422
    assert server.request("POST", "/api/v1/enrol", encoded(ENROLMENT), secret).status == 201


def test_revoked_and_expired_enrolment_tokens_are_refused(
    start: Callable[..., Running],
) -> None:
    server = start()
    made = server.request("POST", "/api/v1/enrolments", encoded({}), server.admin).json
    path = f"/api/v1/enrolments/{made['id']}"
    assert server.request("DELETE", path, secret=server.admin).status == 204
    secret = secret_of(made["token"])
    assert server.request("POST", "/api/v1/enrol", encoded(ENROLMENT), secret).status == 401
    line = run("enrol", "--state", str(server.state), "--expires", "1 s").strip()
    server.end()
    # The database's clock is this machine's: the second is over when the server is up again.
    _wait_until_all_have_expired(server)
    again = start()
    answer = again.request("POST", "/api/v1/enrol", encoded(ENROLMENT), secret_of(line))
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")


def _wait_until_all_have_expired(server: Running) -> None:
    with sqlite3.connect(server.state / "server.db") as database:
        (last,) = database.execute(
            "SELECT max(expires_ms) FROM enrolments WHERE revoked_ms IS NULL"
        ).fetchone()
    while time.time() * 1_000 <= last:
        time.sleep(0.05)


def test_agents_get_the_plans_that_are_theirs(server: Running) -> None:
    one, other = server.enrolled(), server.enrolled()
    for name, more in (("every", {}), ("own", {"agents": [one.id]})):
        answer = server.request("PUT", f"/api/v1/plans/{name}", encoded(PLAN | more), server.admin)
        assert (answer.status, answer.json) == (201, {"id": f"{name}@1"})
    answer = server.get("/api/v1/agent/plans", one.secret)
    told = {plan["name"]: plan for plan in answer.json["plans"]}
    assert set(told) == {"every", "own"}
    assert told["own"] == {
        "id": "own@1",
        "name": "own",
        "target": {"host": "t.example.org", "port": 4420, "token": "mptcplab1-AAAA"},
        "interfaces": None,
        "addresses": None,
        "namespace": None,
        "sizes_bytes": [1_000_000],
        "directions": ["down"],
        "repeat": 1,
        "congestion_control": None,
        "order": "random",
        "seed": 1,
        "schedule": {"every_s": 60, "spread_s": 0},
        "windows": [],
        "budget_bytes": 50_000_000,
        "daily_bytes": 100_000_000,
        "most_experiments": None,
        "until_unix_s": None,
    }
    names = [plan["name"] for plan in server.get("/api/v1/agent/plans", other.secret).json["plans"]]
    assert names == ["every"]
    again = server.request(
        "GET",
        "/api/v1/agent/plans",
        secret=one.secret,
        headers={"If-None-Match": answer.headers["etag"]},
    )
    assert (again.status, again.body) == (304, b"")
    changed = server.request(
        "PUT", "/api/v1/plans/every", encoded(PLAN | {"seed": 2}), server.admin
    )
    assert changed.json == {"id": "every@2"}
    same = server.request("PUT", "/api/v1/plans/every", encoded(PLAN | {"seed": 2}), server.admin)
    assert (same.status, same.json) == (200, {"id": "every@2"})
    after = server.get("/api/v1/agent/plans", one.secret)
    assert after.headers["etag"] != answer.headers["etag"]
    for name in ("every", "own"):
        path = f"/api/v1/plans/{name}"
        assert server.request("DELETE", path, secret=server.admin).status == 204
        assert server.request("DELETE", path, secret=server.admin).status == 404
    assert server.get("/api/v1/agent/plans", one.secret).json == {"plans": []}


def test_the_state_that_an_agent_tells_is_kept(server: Running) -> None:
    agent = server.enrolled(name="car-8")
    told = CONTACT | {"problem": "The target is not reached", "state": "measuring"}
    answer = agent.contact(told)
    assert answer.status == 200
    found = server.get(f"/api/v1/agents/{agent.id}").json
    assert (found["name"], found["contact"]) == ("car-8", told | {"quarantined_count": 0})
    assert found["contact_ms"] == answer.json["now_unix_ms"]


def test_results_that_are_missing_are_told(server: Running) -> None:
    agent = server.enrolled()
    for sequence in (0, 1, 4, 7):
        assert agent.put(agent.result(sequence=sequence)).status == 201
    told = CONTACT | {
        "next_sequence": 10,
        "spooled": 2,
        "dropped": {"size": 1, "age": 1},
        "quarantined": [{"id": "x", "reason": "It was refused"}],
    }
    assert agent.contact(told).status == 200
    found = server.get(f"/api/v1/agents/{agent.id}").json
    assert found["gaps"] == [[2, 3], [5, 6]]
    assert (found["results"], found["next_sequence"], found["missing"]) == (4, 10, 1)
    # The list is bounded, their number is not.
    assert agent.contact(told | {"quarantined_count": 2}).status == 200
    assert server.get(f"/api/v1/agents/{agent.id}").json["missing"] == 0
    assert agent.contact(told | {"quarantined_count": -1}).status == 422


def test_nothing_is_taken_from_an_agent_that_is_revoked(server: Running) -> None:
    agent = server.enrolled(name="lost one")
    assert agent.put(agent.result()).status == 201
    printed = run("revoke", "lost one", "--state", str(server.state))
    assert printed == f"lost one ({agent.id}): revoked; its results stay\n"
    assert agent.put(agent.result()).status == 401
    assert agent.contact(CONTACT).status == 401
    assert server.get(f"/api/v1/agents/{agent.id}").json["results"] == 1


@pytest.mark.parametrize("version", ["2", "0", "", "1.0", "01", "-1", "9" * 5_000])
def test_another_version_of_the_protocol_is_refused(server: Running, version: str) -> None:
    answer = server.request(
        "POST", "/api/v1/enrol", encoded(ENROLMENT), server.enrolment(),
        {"Mptcplab-Protocol": version},
    )  # fmt: skip
    assert (answer.status, answer.json["versions"]) == (400, [1])
    assert "this server takes version 1" in answer.error
    assert ("update the server" in answer.error) is (version == "2")


def test_a_result_of_another_agent_is_refused(server: Running) -> None:
    one, other = server.enrolled(), server.enrolled()
    answer = one.put(made_result(agent=other.id))
    assert answer.status == 403
    assert server.get(f"/api/v1/results?agent={other.id}").json["results"] == []
