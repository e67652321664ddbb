"""Every place where a protected value may lie is on the page that says which rule protects it.

A new field, topic, log, file of secrets or user of Redis is found in the code, so that nobody has to think of it.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps
from django.db import models

from broker.config.definition import Key
from broker.connect import settings as connect_settings
from broker.registry import config as registry_config
from console.kit.access.internal_names import BY_CONVENTION
from console.state.clusters.access import tells_of_others
from console.state.clusters.models import Topic

_ROOT = Path(__file__).parents[4]
_PAGE = (_ROOT / "docs/internals/protected-values.md").read_text()
_TEXT = (models.CharField, models.TextField, models.JSONField, models.BinaryField)
_LOOKED_FOR = re.compile("TOPICS? *=|TOPICS?, |LOG_DIR|SECRETS_DIR|redis_of_layer")
_TOPIC_NAME = re.compile(r"[a-z_][\w-]*(?:\.[\w-]+)*")


@cache
def _trees() -> dict[str, ast.Module]:
    """Of the files in which any of what is looked for may stand."""
    trees = {}
    for path in (path for folder in ("console", "broker") for path in sorted((_ROOT / folder).rglob("*.py"))):
        text = path.read_text()
        if "/migrations/" not in str(path) and _LOOKED_FOR.search(text):
            trees[str(path.relative_to(_ROOT))] = ast.parse(text)
    return trees


def rows_of(heading: str) -> list[list[str]]:
    section = _PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:] if "---" not in line]


def names_in(heading: str) -> list[str]:
    return [row[0].strip("`") for row in rows_of(heading)]


RULES = {row[0] for row in rows_of("Rules")}


@pytest.mark.parametrize("heading", ["Fields of the console's database", "Topics", "Logs", "Secrets", "Redis"])
def test_each_place_names_a_rule_that_there_is(heading):
    rows = rows_of(heading)
    assert rows
    assert {row[-1] for row in rows} <= RULES
    assert all(all(row) for row in rows)


def test_every_field_that_can_hold_a_value_has_a_row():
    results = {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, _TEXT)
    }
    listed = [
        f"{row[0].strip('`')}.{field.strip(' `')}"
        for row in rows_of("Fields of the console's database")
        for field in row[1].split(",")
    ]
    assert sorted(listed) == sorted(results)


def topics_in_code() -> Iterator[str]:
    """Of constants whose name ends so, and of keys by which services are told where to keep what they know."""
    for tree in _trees().values():
        for node in tree.body:
            if isinstance(node, ast.Assign):
                yield from _topics_of(node)
    keys = [variable for module in (connect_settings, registry_config) for variable in vars(module).values()]
    for item in keys:
        for key in item if isinstance(item, tuple) else ():
            if isinstance(key, Key) and key.name.endswith(".topic") and isinstance(key.default, str):
                yield key.default


def _topics_of(assignment: ast.Assign) -> Iterator[str]:
    for target in assignment.targets:
        pairs = [(target, assignment.value)]
        if isinstance(target, ast.Tuple) and isinstance(assignment.value, ast.Tuple):
            pairs = list(zip(target.elts, assignment.value.elts, strict=True))
        for name, value in pairs:
            is_topic = isinstance(name, ast.Name) and re.search(r"(?:^|_)TOPICS?$", name.id)
            for text in ast.walk(value) if is_topic else ():
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and _is_topic(text.value):
                    yield text.value


def _is_topic(text: str) -> bool:
    """Not a key of a configuration, and no other word."""
    is_name = _TOPIC_NAME.fullmatch(text) is not None and not text.endswith(".topic")
    return is_name and (text.startswith("_") or "." in text or "-" in text)


def test_every_topic_of_the_product_has_a_row():
    assert set(topics_in_code()) - set(names_in("Topics")) == set()


@pytest.mark.parametrize("row", rows_of("Topics"), ids=lambda row: row[0].strip("`"))
def test_what_the_page_says_of_a_topic_is_what_the_console_does(row):
    name, rule = row[0].strip("`"), row[-1]
    assert (name in BY_CONVENTION) is (rule == "internal")
    if rule == "others":
        assert all(tells_of_others(Topic(name=item)) for item in (name, f"eu.{name}", f"eu_{name}"))


def paths_below(directory: str) -> set[str]:
    """The first step of each path that the console makes below a directory of its settings, with stars for names."""
    patterns = set()
    for path, tree in _trees().items():
        if path.startswith("console/"):
            for node in ast.walk(tree):
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_named(node.left, directory):
                    patterns.add(_with_stars(node.right))
    return patterns


def _is_named(node: ast.expr, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)


def _with_stars(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_with_stars(part) if isinstance(part, ast.Constant) else "*" for part in parts)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return f"<{name}>"
    return ast.unparse(node)


@pytest.mark.parametrize(("directory", "heading"), [("LOG_DIR", "Logs"), ("SECRETS_DIR", "Secrets")])
def test_every_log_and_every_secret_has_a_row(directory, heading):
    constants = {"<_KEY_FILE>": "audit-chain-key"}
    assert {constants.get(item, item) for item in paths_below(directory)} == set(names_in(heading))


def test_every_module_that_keeps_something_in_redis_has_a_row():
    paths = {
        path
        for path, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "redis_of_layer" in {name.name for name in node.names}
    }
    assert paths == set(names_in("Redis"))
