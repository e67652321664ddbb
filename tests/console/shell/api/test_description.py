"""The description of the API names what there is, and hostile requests are answered in its own form."""

import json

import pytest
from django.test import Client

from console.shell.api.actions import ACTIONS
from console.shell.api.reads import READS


def test_the_description_names_every_operation(program, viewer):
    document = program(viewer).get("openapi.json").json()
    paths = set(document["paths"])
    wanted = {f"/api/v1/{read.path.replace('int:', '').replace('path:', '')}" for read in READS}
    assert wanted | {"/api/v1/plans", "/api/v1/plans/apply", "/api/v1/events", "/api/v1/health"} <= paths
    assert document["openapi"].startswith("3.")


def test_the_description_is_for_who_is_logged_in_or_has_a_token(viewer, client_of, client):
    assert client.get("/api/v1/openapi.json").status_code == 401
    assert client_of(viewer).get("/api/v1/openapi.json").status_code == 200


def test_the_actions_say_what_they_take(program, viewer):
    actions = {action["name"]: action for action in program(viewer).get("actions").json()}
    assert actions.keys() == ACTIONS.keys()
    assert actions["create-topic"]["parameters"] == ["name", "partition_count", "replication_factor", "configs"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'"x"', b"[" * 100_000, b'{"action": 1}',
        b'{"action": "create-topic", "parameters": []}',
        b'{"action": "create-topic", "parameters": {"name": {"a": 1}}}', b'{"action": "' + b"a" * 100_000 + b'"}',
        b'{"action": "delete-topic", "parameters": {"name": "../../etc"}}', b"\xff\xfe", b'{"action": "\\u0000"}',
        b'{"action": "delete-topic", "parameters": {"name": ["a", "b"]}}',
    ],
)  # fmt: skip
def test_bodies_of_nonsense_are_refused_in_words(program, operator, cluster, body):
    secret = program(operator).secret
    client = Client(headers={"Authorization": f"Bearer {secret}"}, raise_request_exception=False)
    answer = client.post("/api/v1/plans", body, content_type="application/json")
    assert answer.status_code in (400, 404, 422)
    document = json.loads(answer.content)
    assert document["status"] == answer.status_code
    assert document["detail"]
    assert "Traceback" not in answer.content.decode()


def test_an_address_there_is_not_is_answered_in_words(program, viewer):
    answer = program(viewer).get("nothing/of/this")
    assert answer.status_code == 404
    assert "openapi.json" in answer.json()["detail"]
