"""Results of a server: arrival, and what is read of them."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

import pytest
from tests.server.made import empty_result, encoded, made_result
from tests.server.running import Agent, Running, asked, digest_of

from mptcplab.server import intake
from mptcplab.server.result import Result
from mptcplab.server.strict_json import parse
from mptcplab.server.summary import summary


def stored(server: Running, agent: Agent) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get(f"/api/v1/results?agent={agent.id}").json["results"]
    return found


def test_a_result_is_stored_once_as_its_exact_bytes(server: Running) -> None:
    agent = server.enrolled()
    told = agent.result()
    # Spaces and order are the sender's.
    body = json.dumps(dict(reversed(told.items())), indent=3).encode()
    answers = [agent.put_bytes(told["id"], body) for _ in range(3)]
    assert [answer.status for answer in answers] == [201, 200, 200]
    expected = {"sha256": hashlib.sha256(body).hexdigest()}
    assert all(answer.json == expected for answer in answers)
    read = server.get(f"/api/v1/results/{told['id']}")
    assert read.body == body
    assert read.headers["content-digest"] == digest_of(body)
    (row,) = stored(server, agent)
    assert row["id"] == told["id"]
    assert (row["sha256"], row["size_bytes"]) == (expected["sha256"], len(body))


def test_another_content_under_the_same_id_is_a_conflict(server: Running) -> None:
    agent = server.enrolled()
    told = agent.result()
    assert agent.put(told).status == 201
    assert agent.put(told | {"seed": 2}).status == 409
    other = server.enrolled()
    assert other.put(told | {"agent": other.id}).status == 409
    assert server.get(f"/api/v1/results/{told['id']}").body == encoded(told)


def test_a_body_that_is_not_that_of_its_digest_is_refused(server: Running) -> None:
    agent = server.enrolled()
    told = agent.result()
    body = encoded(told)
    for digest in (digest_of(body + b" "), "sha-256=:AAAA:", "", "sha-512=:AAAA:"):
        assert agent.put_bytes(told["id"], body, digest).status == 400
    assert stored(server, agent) == []
    assert agent.put_bytes(told["id"], body, f"sha-512=:AA==:, {digest_of(body)}").status == 201


def test_the_id_is_that_of_the_path(server: Running) -> None:
    agent = server.enrolled()
    told = agent.result()
    answer = agent.put_bytes(made_result()["id"], encoded(told))
    assert answer.status == 422
    assert "path" in answer.error


def test_the_summary_is_that_of_a_probe(server: Running) -> None:
    agent = server.enrolled()
    told = agent.result()
    agent.put(told)
    found = server.get(f"/api/v1/results/{told['id']}/summary").json
    assert found == summary(parse(Result, encoded(told)))
    assert [path["interface"] for path in found["paths"]] == ["wifi", "lte"]
    assert found["paths"][0]["down_mbps"]["mean"] == 8.0
    assert found["benefit"]["down"][0]["aggregation"]["mean"] == pytest.approx(0.5, abs=1e-5)
    (row,) = stored(server, agent)
    assert row["verdict"] == found["verdict"]


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_an_experiment_that_was_not_carried_out_is_a_result(server: Running, outcome: str) -> None:
    agent = server.enrolled()
    told = empty_result(outcome, agent=agent.id)
    assert agent.put(told).status == 201
    (row,) = stored(server, agent)
    assert (row["outcome"], row["reason"]) == (outcome, told["reason"])
    assert row["verdict"] == ["The target is not reached."]
    found = server.get(f"/api/v1/results/{told['id']}/summary").json
    assert (found["paths"], found["partial"]) == ([], True)


def test_a_program_follows_results_in_the_order_of_arrival(server: Running) -> None:
    agent = server.enrolled()
    sent = [agent.result(plan=f"follow@{1 + number % 2}") for number in range(5)]
    for told in sent:
        agent.put(told)
    agent.put(agent.result(plan="followers@1"))
    seen: list[str] = []
    since = 0
    while True:
        page = server.get(f"/api/v1/results?plan=follow&since={since}&limit=2").json
        if not page["results"]:
            break
        seen += [row["id"] for row in page["results"]]
        since = page["next"]
    assert seen == [told["id"] for told in sent]
    one = server.get("/api/v1/results?plan=follow@2").json["results"]
    assert [row["id"] for row in one] == [told["id"] for told in sent[1::2]]


@pytest.mark.parametrize("query", ["since=-1", "limit=0", "limit=1001", "since=x", "limit=1e2"])
def test_a_number_that_is_none_is_refused(server: Running, query: str) -> None:
    assert server.get(f"/api/v1/results?{query}").status == 400


def test_many_requests_go_over_one_connection(server: Running) -> None:
    import http.client

    agent = server.enrolled()
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.sock = server.socket()
    for _ in range(5):
        told = agent.result()
        body = encoded(told)
        answer = asked(
            connection, "PUT", f"/api/v1/agent/results/{told['id']}", body, agent.secret,
            {"Content-Digest": digest_of(body)},
        )  # fmt: skip
        assert answer.status == 201
    connection.close()
    assert len(stored(server, agent)) == 5


def test_the_description_names_every_operation_and_model(server: Running) -> None:
    from mptcplab.server.web.operations import OPERATIONS

    told = server.get("/api/v1/openapi.json").json
    found = {
        (method.upper(), path) for path, methods in told["paths"].items() for method in methods
    }
    assert found == {(one.method, one.path) for one in OPERATIONS}
    schemas = told["components"]["schemas"]
    text = json.dumps(told)
    for reference in set(text.split('"#/components/schemas/')[1:]):
        assert reference.partition('"')[0] in schemas
    assert {"Result", "Plan", "Contact", "Enrolment"} <= set(schemas)


def test_numbers_for_prometheus(server: Running) -> None:
    agent = server.enrolled(name='a "quoted" \\ name')
    agent.put(agent.result())
    answer = server.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    label = f'agent="{agent.id}",name="a \\"quoted\\" \\\\ name"'
    assert f"mptcplab_agent_missing_results{{{label}}} 0" in lines
    assert any(line.startswith('mptcplab_results{outcome="complete"} ') for line in lines)
    # It sinks where old results are forgotten.
    assert "# TYPE mptcplab_results gauge" in lines
    assert all(line.startswith(("# ", "mptcplab_")) for line in lines)


def test_what_is_kept_is_read_again() -> None:
    body = encoded(made_result())
    arrival = intake.read(body)
    result, again = intake.read_kept(arrival.content)
    assert again == body == zlib.decompress(arrival.content)
    assert result == arrival.result
