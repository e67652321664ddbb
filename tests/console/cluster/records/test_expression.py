"""Searching by an expression: what it can name, what is said of a wrong one, and what none can do to the console."""

import json

import pytest

from broker.common import extras
from console.cluster.records.expression import BadExpression, Expression
from console.cluster.records.matching import ExpressionMatcher
from console.kit.gateway.records.interface import RecordView
from tests.barnabas_cluster import await_true


def record(value, key=b"eu-1", offset=0, headers=()):
    data = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
    return RecordView(3, offset, 1_700_000_000_000, key, data, headers)


@pytest.fixture
def search():
    opened = []

    def search(text):
        opened.append(ExpressionMatcher("orders", text))
        return opened[-1]

    yield search
    for item in opened:
        item.close()


def test_without_its_package_the_search_says_what_to_install(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(BadExpression, match=r"Searches by an expression need the Python package cel, .*: make setup"):
        Expression("true")


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("value.amount > 100 && key.startsWith('eu-')", True),
        ("value.items.exists(each, each.sku == 'b')", True),
        ("headers['trace'] == 'abc' && partition == 3", True),
        ("timestamp >= 1700000000000 && size > 20 && offset == 7", True),
        ("has(value.error)", False),
        ("value.amount == 1", False),
    ],
)
def test_a_record_is_found_by_what_it_says(search, text, matches):
    document = {"amount": 150, "items": [{"sku": "a"}, {"sku": "b"}]}
    assert search(text)(record(document, offset=7, headers=(("trace", b"abc"), ("none", None)))) is matches


def test_texts_bytes_and_nulls_are_what_they_are(search):
    assert search("value == 'plain'")(record(b"plain"))
    assert search("value == null && key == null")(record(None, key=None))
    assert search("value == b'\\xff\\x00'")(record(b"\xff\x00"))


@pytest.mark.parametrize(
    ("text", "word"),
    [("value.amount >", "Syntax error"), ("valeu > 3", "no name valeu; there are key"), ("", "cannot be read")],
)
def test_a_wrong_expression_is_refused_with_what_is_wrong(text, word):
    with pytest.raises(BadExpression, match=word):
        Expression(text)


def test_records_it_cannot_be_evaluated_for_do_not_match_and_are_counted(search):
    wanted = search("value.amount > 3")
    assert [wanted(record(item, offset=at)) for at, item in enumerate([{"amount": 5}, {"other": 1}, b"text"])] == [
        True, False, False,
    ]  # fmt: skip
    assert wanted.note.startswith(
        "could not be evaluated for 2, the first at partition 3 offset 1: there is no 'amount'"
    )
    number = search("1 + 1")
    assert number(record({})) is False
    assert "not true or false" in number.note


@pytest.mark.parametrize(
    "text",
    [
        "value.map(a, value.map(b, value.map(c, value.map(d, d)))).size() > 0",
        "value.all(a, value.all(b, value.all(c, value.all(d, value.all(e, d >= 0)))))",
    ],
)
def test_an_expression_that_asks_for_too_much_is_ended(search, text):
    wanted = search(text)
    with pytest.raises(BadExpression, match=r"takes longer than 2 s|more memory"):
        wanted(record(list(range(400))))
    wanted.close()
    await_true(lambda: wanted._expression._process.poll() is not None, "its process has ended")
