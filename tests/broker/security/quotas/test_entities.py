"""Whom a quota is for: as znodes spell it, as requests name it, and which of several counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.errors import ApiError
from broker.security.quotas.entities import QuotaEntity, candidates, entity_at, entity_of
from broker.security.sanitized_names import DEFAULT, desanitized, sanitized

NAMES = st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("alice", "alice"),
        ("a b", "a%20b"),
        ("CN=x,O=y", "CN%3Dx%2CO%3Dy"),
        ("a*b+c~d", "a%2Ab%2Bc%7Ed"),
        ("Ä/ß", "%C3%84%2F%C3%9F"),
        ("<default>", "%3Cdefault%3E"),
        ("a.b-c_d", "a.b-c_d"),
        ("%41", "%2541"),
    ],
)
def test_names_are_spelled_as_java_spells_them(name, text):
    assert sanitized(name) == text
    assert desanitized(text) == name


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ([("user", "u"), ("client-id", "c d")], "users/u/clients/c%20d"),
        ([("client-id", None), ("user", "u")], "users/u/clients/<default>"),
        ([("user", "u")], "users/u"),
        ([("user", None), ("client-id", "c")], "users/<default>/clients/c"),
        ([("user", None)], "users/<default>"),
        ([("user", "<default>")], "users/%3Cdefault%3E"),
        ([("client-id", "c")], "clients/c"),
        ([("ip", "127.0.0.1")], "ips/127.0.0.1"),
        ([("ip", None)], "ips/<default>"),
    ],
)
def test_where_the_quotas_of_an_entity_stand(parts, path):
    entity = entity_of(parts)
    assert entity.path == path
    assert entity_at(path) == entity
    assert sorted(entity.parts, key=str) == sorted(parts, key=str)


@given(NAMES, NAMES, st.sampled_from(("user", "client", "both", "ip")))
def test_every_name_comes_back_from_its_path(user, client, which):
    parts = {
        "user": [("user", user)],
        "client": [("client-id", client)],
        "both": [("user", user), ("client-id", client)],
        "ip": [("ip", user)],
    }[which]
    entity = entity_at(entity_of(parts).path)
    assert entity is not None
    assert entity.parts == parts


@pytest.mark.parametrize("path", ["users", "users/u/clients", "users/u/x/y", "topics/t", "clients/a/b", "", "ips/a/b"])
def test_no_entity_stands_elsewhere(path):
    assert entity_at(path) is None


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [("user", "")],
        [("group", "g")],
        [("", "g")],
        [("ip", "1.2.3.4"), ("user", "u")],
        [("user", "u"), ("user", "v")],
    ],
)
def test_what_can_be_nobody_is_refused(parts):
    with pytest.raises(ApiError):
        entity_of(parts)


def test_who_is_named_most_precisely_counts_first():
    assert [entity.path for entity in candidates("u", "c")] == [
        "users/u/clients/c",
        "users/u/clients/<default>",
        "users/u",
        "users/<default>/clients/c",
        "users/<default>/clients/<default>",
        "users/<default>",
        "clients/c",
        "clients/<default>",
    ]
    assert QuotaEntity(user=DEFAULT) in set(candidates("anybody", "any"))
