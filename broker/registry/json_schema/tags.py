"""Tags of a JSON schema: members `confluent:tags` of its objects and properties, by Confluent's paths.

A path goes `object.name` into a property, `object.definitions.name` into a definition, `array` into the items, and by
`oneof.0` into one of several, which are counted as they are written. Pure.
"""

from collections.abc import Iterator
from typing import Any

from broker.registry.tags import FIELD, RECORD, TagChanges, TaggedEntities, put_tags, tags_in

_COMBINED = {"anyof": "anyOf", "allof": "allOf", "oneof": "oneOf"}
_DEFINITIONS = ("definitions", "$defs")


def change_tags(raw: Any, changes: TagChanges) -> None:
    """Change the schema itself. Raises InvalidSchema."""
    for entity in changes.entities:
        node = _find(raw, entity.kind, entity.path.split("."))
        if isinstance(node, dict):
            put_tags(node, changes.applied(entity, tags_in(node)))
        else:
            changes.require(entity)


def _find(node: Any, kind: str, words: list[str]) -> Any:
    """Return the schema that the path leads to; None where it leads nowhere."""
    while words and isinstance(node, dict):
        word, *words = words
        if word == "object":
            if not words:
                return node if kind == RECORD else None
            place = words[0] if words[0] in _DEFINITIONS else "properties"
            node, words = _named(node.get(place), words[1:] if place == words[0] else words)
            if not words:
                return node
        elif word == "array":
            node = node.get("items")
        elif word in _COMBINED:
            branches = node.get(_COMBINED[word])
            index = int(words[0]) if words and words[0].isdecimal() and len(words[0]) < 10 else -1
            # `"type": ["null", "object"]` is a choice without branches.
            node = node if branches is None else _at(branches, index)
            words = words[1:]
        elif word == "not":
            node = node.get("not")
        else:
            return None
    return None


def _at(branches: Any, index: int) -> Any:
    return branches[index] if isinstance(branches, list) and 0 <= index < len(branches) else None


def _named(members: Any, words: list[str]) -> tuple[Any, list[str]]:
    """Return the member whose name is the next words, as few as there are, for a name may have dots; and the rest."""
    if isinstance(members, dict):
        for count in range(1, len(words) + 1):
            name = ".".join(words[:count])
            if name in members:
                return members[name], words[count:]
    return None, []


def inline_tags(raw: Any) -> TaggedEntities:
    entities = TaggedEntities()
    waiting: list[tuple[Any, tuple[str, ...], bool]] = [(raw, (), False)]
    for node, scope, is_field in waiting:
        if not isinstance(node, dict):
            continue
        properties = node.get("properties")
        if not is_field:
            entities.add(RECORD, (*scope, "object"), tags_in(node))
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            path = (*scope, "object", name)
            entities.add(FIELD, path, tags_in(schema) if isinstance(schema, dict) else [])
            waiting.append((schema, path, True))
        for word, schema in _below(node):
            waiting.append((schema, (*scope, *word), False))
    return entities


def _below(node: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the schemas in another one that are no properties, and the words of their paths."""
    for place in _DEFINITIONS:
        definitions = node.get(place)
        for name, schema in definitions.items() if isinstance(definitions, dict) else ():
            yield ("object", place, name), schema
    yield ("array",), node.get("items")
    yield ("not",), node.get("not")
    for word, keyword in _COMBINED.items():
        branches = node.get(keyword)
        for index, schema in enumerate(branches if isinstance(branches, list) else ()):
            yield (word, str(index)), schema
