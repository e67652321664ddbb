"""Files as a declaration: what they may say, and why something in them cannot be meant. Pure."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from console.automation.declared.access_parsing import declared_quotas, declared_rules
from console.automation.declared.declaration import (
    OBJECTS_MAX,
    SCOPES,
    ClusterDeclaration,
    DeclarationError,
    Problem,
    SourceLine,
    name_in_scope,
)
from console.automation.declared.document import DocumentError, Node, documents
from console.automation.declared.object_parsing import declared_connectors, declared_groups, declared_topics
from console.automation.declared.reader import PROBLEMS_MAX, DeclarationReader
from console.kit.access.reach import PATTERN_LENGTH_MAX, STARS_MAX

FILES_MAX = 50
#: Of all files together.
CHARACTERS_MAX = 1024 * 1024
SECTIONS = ("scope", "topics", "acls", "quotas", "groups", "connectors")

_READ: Mapping[str, Callable[[DeclarationReader, Node], Iterable[Any]]] = {
    "topics": declared_topics,
    "acls": declared_rules,
    "quotas": declared_quotas,
    "groups": declared_groups,
    "connectors": declared_connectors,
}


def parse(files: Sequence[tuple[str, str]]) -> ClusterDeclaration:
    """Parse declaration files by name and text. Raises DeclarationError."""
    if len(files) > FILES_MAX:
        raise DeclarationError((Problem(SourceLine("", 1), f"There are more than {FILES_MAX} files."),))
    if sum(len(text) for _, text in files) > CHARACTERS_MAX:
        sentence = f"The files have more than {CHARACTERS_MAX:,} characters together: apply them one by one."
        raise DeclarationError((Problem(SourceLine("", 1), sentence),))
    declaration, problems = ClusterDeclaration(files=tuple(name for name, _ in files)), list[Problem]()
    for name, text in files:
        declaration = _added(declaration, DeclarationReader(name, problems), text)
    if not problems:
        problems += [*_twice(declaration), *_too_many(declaration), *_beyond(declaration)]
    if problems:
        raise DeclarationError(tuple(problems[:PROBLEMS_MAX]))
    return declaration


def _added(declaration: ClusterDeclaration, reader: DeclarationReader, text: str) -> ClusterDeclaration:
    try:
        nodes = documents(text)
    except DocumentError as error:
        reader.wrong(error.line, str(error))
        return declaration
    for node in nodes:
        sections = reader.table(node, "A declaration", SECTIONS)
        for name in _READ:
            if name in sections:
                more: Any = (*getattr(declaration, name), *_READ[name](reader, sections[name].value))
                declaration = replace(declaration, **{name: more})
        if "scope" in sections:
            declaration = replace(declaration, scope=_scope(declaration, reader, sections["scope"].value))
    return declaration


def _scope(declaration: ClusterDeclaration, reader: DeclarationReader, node: Node) -> dict[str, tuple[str, ...]]:
    scope = dict(declaration.scope)
    for kind, entry in reader.table(node, "scope", SCOPES).items():
        for pattern in reader.texts(entry, kind):
            if why := _pattern_refusal(pattern):
                reader.wrong(entry.line, why)
            else:
                scope[kind] = (*scope.get(kind, ()), pattern)
    return scope


def _pattern_refusal(pattern: str) -> str:
    if not pattern.strip("*?. "):
        return f"The scope {pattern[:40]!r} is everything there is: begin it with what your names begin with."
    if len(pattern) > PATTERN_LENGTH_MAX or pattern.count("*") > STARS_MAX:
        return f"A scope has at most {PATTERN_LENGTH_MAX} characters and {STARS_MAX} stars."
    return ""


def _twice(declaration: ClusterDeclaration) -> Iterable[Problem]:
    declared: list[tuple[str, Hashable, SourceLine]] = []
    for kind in ("topics", "groups", "connectors"):
        declared += [(f"The {kind[:-1]}", item.name, item.place) for item in getattr(declaration, kind)]
    declared += [("The quota", quota.entity, quota.place) for quota in declaration.quotas]
    declared += [("The rule", rule, acl.place) for acl in declaration.acls for rule in acl.rules]
    seen: dict[tuple[str, Hashable], SourceLine] = {}
    for word, key, place in declared:
        first = seen.setdefault((word, key), place)
        if first is not place:
            yield Problem(place, f"{word} is declared a second time; the first is in {first}.")


def _too_many(declaration: ClusterDeclaration) -> Iterable[Problem]:
    objects = [*declaration.topics, *declaration.quotas, *declaration.groups, *declaration.connectors]
    count = len(objects) + sum(len(acl.rules) for acl in declaration.acls)
    if count > OBJECTS_MAX:
        yield Problem(SourceLine("", 1), f"{count:,} objects are declared; apply at most {OBJECTS_MAX:,} at once.")


def _beyond(declaration: ClusterDeclaration) -> Iterable[Problem]:
    """Yield declared objects outside the declaration's own scope."""
    for kind, patterns in declaration.scope.items():
        for name, place in _names(declaration, kind):
            if not declaration.within(kind, name):
                patterns_text = ", ".join(patterns)
                yield Problem(
                    place, f"{name or 'A default'} is beyond the scope of these files, {kind}: {patterns_text}."
                )


def _names(declaration: ClusterDeclaration, kind: str) -> Iterable[tuple[str, SourceLine]]:
    if kind == "principals":
        return [(acl.rules[0].principal, acl.place) for acl in declaration.acls if acl.rules]
    if kind == "quotas":
        return [(name_in_scope(quota.entity), quota.place) for quota in declaration.quotas]
    return [(item.name, item.place) for item in getattr(declaration, kind)]
