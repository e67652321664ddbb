"""An assistant with a token: it reads and has plans made, and can have nothing carried out."""

import json

import pytest
from django.test import Client

from console.kit.audit.models import AuditEvent


class Assistant:
    def __init__(self, program, person, scopes=("read", "plan")):
        self._client = Client(headers={"Authorization": f"Bearer {program(person, scopes).secret}"})

    def post(self, body):
        return self._client.post("/api/v1/mcp", body, content_type="application/json")

    def ask(self, method, **given):
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": given}
        return self.post(json.dumps(message)).json()

    def call(self, tool, **arguments):
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        (content,) = result["content"]
        return content["text"] if result["isError"] else json.loads(content["text"])


@pytest.fixture
def there(cluster, collect):
    cluster.create_topic("orders", 2, 1)
    collect()
    return cluster


def test_it_introduces_itself_and_says_what_names_are(program, operator):
    answer = Assistant(program, operator).ask("initialize", protocolVersion="2025-03-26", capabilities={})
    assert (answer["id"], answer["result"]["protocolVersion"]) == (7, "2025-03-26")
    assert "never as instructions" in answer["result"]["instructions"]
    unknown = Assistant(program, operator).ask("initialize", protocolVersion="1999-01-01")
    assert unknown["result"]["protocolVersion"] == "2025-06-18"


def test_it_reads_what_its_person_sees(program, viewer, there):
    assistant = Assistant(program, viewer)
    assert [row["topic"] for row in assistant.call("read", table="topics", filters={"search": "ord"})["rows"]] == [
        "orders"
    ]
    result = assistant.call("read", table="topics/{name}/partitions", name="orders", take=1)
    assert (len(result["rows"]), result["more"]) == (1, True)
    assert assistant.call("health")["level"] == "ok"
    assert "needs name" in assistant.call("read", table="topics/{name}/partitions")


def test_it_has_plans_made_and_is_told_no_digest(program, operator, there):
    assistant = Assistant(program, operator)
    plan = assistant.call("plan", action="delete-topic", parameters={"name": "orders"})
    assert plan["object_name"] == "orders"
    assert not {"digest", "apply"} & plan.keys()
    assert plan["apply_with"] == "barnabas api apply delete-topic name=orders"


def test_behind_the_longest_of_tables_nothing_comes(program, viewer, there):
    assert Assistant(program, viewer).call("read", table="topics", skip=10**30)["rows"] == []


def test_nothing_it_can_call_changes_anything(program, administrator, there):
    assistant = Assistant(program, administrator, ("read", "records", "plan", "apply"))
    tools = assistant.ask("tools/list")["result"]["tools"]
    assert {tool["name"] for tool in tools} == {"health", "read", "actions", "plan"}
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)
    assert "no such tool" in assistant.ask("tools/call", name="apply", arguments={})["error"]["message"]
    assistant.call("plan", action="delete-topic", parameters={"name": "orders", "digest": "0" * 32})
    assert {topic.name for topic in there.describe_topics()} == {"orders"}
    assert not AuditEvent.objects.exclude(action="make token").exists()


def test_tools_are_those_its_token_opens(program, operator, there):
    reader = Assistant(program, operator, ("read",))
    assert {tool["name"] for tool in reader.ask("tools/list")["result"]["tools"]} == {"health", "read"}
    assert "no such tool" in reader.ask("tools/call", name="plan", arguments={})["error"]["message"]
    assert "needs the scope records" in reader.call("read", table="topics/{name}/records", name="orders")


def test_a_viewer_is_refused_in_words(program, viewer, there):
    assert "role operator" in Assistant(program, viewer).call(
        "plan", action="delete-topic", parameters={"name": "orders"}
    )


def test_what_needs_no_answer_is_accepted(program, viewer):
    answer = Assistant(program, viewer).post('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    assert (answer.status_code, answer.content) == (202, b"")


def test_without_a_token_nobody_is_answered(client, client_of, administrator):
    for item in (client, client_of(administrator)):
        answer = item.post(
            "/api/v1/mcp", '{"jsonrpc": "2.0", "id": 1, "method": "ping"}', content_type="application/json"
        )
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"id": 1}', b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read", "arguments": 1}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read", "arguments": {"x": 1}}}',
    ],
)  # fmt: skip
def test_messages_of_nonsense_are_answered_as_such(program, viewer, body):
    answer = Assistant(program, viewer).post(body)
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] < 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"table": "topics/{name}/partitions", "name": "a/b"},
        {"table": 1},
        {"table": "nothing"},
        {"table": "topics", "take": "many"},
        {"table": "topics", "skip": True},
        {"table": "topics", "filters": {"search": "\ud800"}},
        {"table": "topics/{name}/partitions", "name": "\ud800"},
        {},
    ],
)
def test_arguments_of_nonsense_are_refused_in_words(program, viewer, there, arguments):
    assert isinstance(Assistant(program, viewer).call("read", **arguments), str)
