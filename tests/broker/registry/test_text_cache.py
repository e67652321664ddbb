"""What was made of schemas takes a bounded part of the registry's memory, whatever clients register."""

import asyncio

import pytest

from broker.common.limits import REGISTRY_COMPILED_MAX, REGISTRY_PARSED_MAX, REGISTRY_SCHEMA_BYTES_MAX
from broker.common.security_limits import REGISTRY_KEPT_TEXTS_MAX
from broker.registry.config import read_config
from broker.registry.protobuf import compiler
from broker.registry.registry import SchemaRegistry
from broker.registry.schema import Content
from broker.registry.text_cache import TextCache


@pytest.fixture
def cache() -> TextCache[str, str]:
    return TextCache(entries_max=3, characters_max=100)


def test_what_was_used_longest_ago_is_forgotten_first(cache):
    for name in "abc":
        cache.keep(name, name.upper(), 1)
    assert cache.get("a") == "A"
    cache.keep("d", "D", 1)
    assert [cache.get(name) for name in "abcd"] == ["A", None, "C", "D"]


def test_long_texts_are_bounded_by_their_length(cache):
    for name in "abc":
        cache.keep(name, name, 40)
    assert ([cache.get(name) for name in "abc"], cache.characters) == ([None, "b", "c"], 80)


def test_the_newest_one_stays_however_long_it_is(cache):
    cache.keep("a", "A", 1)
    cache.keep("b", "B", 1_000)
    assert ([cache.get(name) for name in "ab"], cache.characters, len(cache)) == ([None, "B"], 1_000, 1)
    cache.keep("c", "C", 1)
    assert ([cache.get(name) for name in "bc"], cache.characters) == ([None, "C"], 1)


def test_an_entry_that_is_made_again_counts_once(cache):
    for length in (40, 50, 60):
        cache.keep("a", "A", length)
    assert (cache.characters, len(cache)) == (60, 1)


def test_parsed_schemas_that_are_kept_are_bounded_by_their_texts(monkeypatch):
    monkeypatch.setattr("broker.registry.registry.REGISTRY_KEPT_TEXTS_MAX", 3_000)
    registry = SchemaRegistry(read_config({"kafkastore.bootstrap.servers": "127.0.0.1:1"}))

    async def parse_many() -> None:
        for number in range(10):
            text = f'{{"type":"record","name":"R{number}","doc":"{"x" * 1_000}","fields":[]}}'
            await registry.parse(".", Content("AVRO", text), is_new=False)

    asyncio.run(parse_many())
    assert 0 < registry._parsed.characters <= 3_000


def test_compiled_schemas_that_are_kept_are_bounded_by_their_texts(monkeypatch):
    monkeypatch.setattr(compiler, "_kept", TextCache(10, 3_000))
    monkeypatch.setattr(compiler, "_ask", lambda request: {"descriptors": ""})
    for number in range(10):
        compiler.compile_files({compiler.MAIN: f"// {number}{'x' * 1_000}"})
    assert 0 < compiler._kept.characters <= 3_000


def test_the_bounds_fit_together():
    assert REGISTRY_KEPT_TEXTS_MAX > 2 * REGISTRY_SCHEMA_BYTES_MAX, "two that are compared are both kept"
    assert REGISTRY_KEPT_TEXTS_MAX // REGISTRY_PARSED_MAX > 4_000, "so many schemas of the usual length are kept"
    assert REGISTRY_COMPILED_MAX <= REGISTRY_PARSED_MAX
