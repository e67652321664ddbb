"""Subjects of several contexts: each with its context, that one's compatibility, and its own schema of an id."""

import re

import pytest

from console.cluster.schemas.access import context_of
from console.cluster.schemas.registry import NAMES
from console.kit.gateway.errors import RefusedError

SUBJECTS = ["orders-value", ":.staging:orders-value", ":.partner:orders-value"]
LEVELS = {"": "BACKWARD", ":.staging:": "NONE", "orders-value": "FULL"}


class Registry:
    """Answers as Confluent's does of what pages ask; `asked` are the queries of ids."""

    def __init__(self):
        self.queries: list[dict] = []

    def ask(self, method, *parts, query=None, body=None):
        match parts:
            case ("subjects",):
                return SUBJECTS
            case ("subjects", _, "versions"):
                return [1]
            case ("subjects", name, "versions", number):
                return {"subject": name, "version": int(number), "id": 7, "schema": '"string"'}
            case ("subjects", *_):
                return []
            case ("config", *scope):
                if (name := "".join(scope)) in LEVELS:
                    return {"compatibilityLevel": LEVELS[name]}
                raise RefusedError("40408", "no level of its own")
            case ("mode", *scope):
                if not scope:
                    return {"mode": "READWRITE"}
                raise RefusedError("40409", "no mode of its own")
            case ("schemas", "ids", _, "versions"):
                self.queries.append(query)
                return [{"subject": f"{(query or {}).get('subject', '')}orders-value", "version": 1}]
            case ("schemas", "ids", _):
                self.queries.append(query)
                return {"schema": '"long"' if query else '"string"'}
        raise AssertionError(parts)


@pytest.fixture
def registry(monkeypatch, db):
    fake = Registry()
    for name in ("queries", "registry", "views"):
        monkeypatch.setattr(f"console.cluster.schemas.{name}.registry_client", lambda: fake, raising=False)
    NAMES.forget()
    yield fake
    NAMES.forget()


@pytest.mark.parametrize(
    ("subject", "parts"),
    [
        ("orders-value", ("", "orders-value")),
        (":.staging:orders-value", (".staging", "orders-value")),
        (":.:orders-value", (".", "orders-value")),
        (":orders", ("", ":orders")),
        (":.a:b:c", (".a", "b:c")),
    ],
)
def test_a_qualified_subject_names_its_context(subject, parts):
    assert context_of(subject) == parts


def test_the_list_has_each_context_beside_the_name_and_the_level_that_counts_there(registry, viewer, client_of):
    text = client_of(viewer).get("/schemas/").content.decode()
    rows = re.findall(
        r'<td class="name">(?:<span class="badge plain"[^>]*>([^<]+)</span> )?'
        r'<a [^>]*title="([^"]+)">([^<]+)</a></td>(.*?)</tr>',
        text,
        re.DOTALL,
    )
    shown = {
        title: (name, context, re.sub("<[^>]+>", "", cells).split("1")[-1].strip())
        for context, title, name, cells in rows
    }
    assert shown == {
        "orders-value": ("orders-value", "", "FULL"),
        ":.staging:orders-value": ("orders-value", ".staging", "NONE (of the context)"),
        ":.partner:orders-value": ("orders-value", ".partner", "BACKWARD (default)"),
    }
    assert "?context=.staging" in text


def test_an_id_is_looked_up_in_the_context_of_its_subject(registry, viewer, client_of):
    text = client_of(viewer).get("/schemas/+id/7/", {"context": ".staging"}).content.decode()
    assert registry.queries == [{"subject": ":.staging:"}] * 2
    assert "&quot;long&quot;" in text
    assert ":.staging:orders-value version 1" in text
    assert "in .staging" in text


def test_a_subject_of_a_context_has_that_one_s_level(registry, viewer, client_of):
    text = client_of(viewer).get("/schemas/:.staging:orders-value/").content.decode()
    assert "NONE (default)" in text
    assert "<dt>Context</dt><dd>.staging</dd>" in text
