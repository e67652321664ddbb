"""Which parts of a topic's records are not for everybody's eyes, and records without them. Pure.

What is hidden is hidden before anybody else sees the record: rows, search, columns, files, downloads, the tail and
programs get the same. A key or value of which a part is to be hidden is always written anew from what was understood of
it (a name that stands twice would else keep its first value), and hidden as a whole if nothing was.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from console.cluster.records.columns import parse_document, parse_path, written
from console.cluster.records.decoders import RecordDecoder
from console.cluster.records.text import document_text
from console.kit.access.roles import Right
from console.kit.gateway.records.interface import Headers, RecordView

RULES_MAX, PATHS_MAX = 200, 50
#: Stands for any topic there may be, as an origin of records whose origins are not all known. No topic is called so.
ANY_TOPIC = "*"
MASK = "•••"
_MASKED = MASK.encode()
_KEYS = {"topics", "mask", "seen_by"}
#: Who sees all of it, by role.
_SEEN_BY: dict[str, Right | None] = {"operator": Right.OPERATE, "admin": Right.ADMINISTER, "nobody": None}
_PARTS = ("key", "value", "headers")


class MaskingError(Exception):
    """The rules cannot be used; the sentence says why."""


@dataclass(frozen=True, slots=True)
class MaskPath:
    """A path in key, value or headers; without steps all of it. Lists on the way are gone through."""

    text: str
    part: str
    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class MaskingRule:
    """A masking rule: `topics` is a pattern of names; `seen_by` the role that sees all, None: none."""

    topics: str
    paths: tuple[MaskPath, ...]
    seen_by: Right | None


def parse_masking(text: str) -> tuple[MaskingRule, ...]:
    """Parse `[[rules]]` with `topics`, `mask` and perhaps `seen_by`. Raises MaskingError."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MaskingError(f"it is no TOML: {error}") from None
    rules = document.pop("rules", [])
    if document:
        raise MaskingError(f"{next(iter(document))} is not known: write [[rules]].")
    if not isinstance(rules, list) or len(rules) > RULES_MAX or not all(isinstance(rule, dict) for rule in rules):
        raise MaskingError(f"rules must be at most {RULES_MAX} tables, [[rules]] each.")
    return tuple(_rule(rule, f"rule {number}") for number, rule in enumerate(rules, start=1))


def _rule(table: Mapping[str, Any], where: str) -> MaskingRule:
    if unknown := sorted(table.keys() - _KEYS):
        raise MaskingError(f"{where}: {unknown[0]} is not known; there are {', '.join(sorted(_KEYS))}.")
    topics, paths, seen_by = table.get("topics"), table.get("mask"), table.get("seen_by", "admin")
    if not isinstance(topics, str) or not topics:
        raise MaskingError(f'{where}: topics must be a pattern, as "payments*".')
    if not isinstance(paths, list) or not 0 < len(paths) <= PATHS_MAX:
        raise MaskingError(
            f'{where}: mask must be a list of at most {PATHS_MAX} paths, as ["value.card", "headers.token"].'
        )
    if seen_by not in _SEEN_BY:
        raise MaskingError(f"{where}: seen_by must be one of {', '.join(_SEEN_BY)}.")
    return MaskingRule(topics, tuple(_path(path, where) for path in paths), _SEEN_BY[seen_by])


def _path(text: object, where: str) -> MaskPath:
    if text in _PARTS:
        return MaskPath(str(text), str(text), ())
    parsed = parse_path(text) if isinstance(text, str) and text.startswith(_PARTS) else None
    if parsed is None or (parsed.part == "headers" and not isinstance(parsed.steps[0], str)):
        raise MaskingError(f"{where}: {str(text)[:60]!r} is no path into key, value or headers.")
    return MaskPath(parsed.text, parsed.part, parsed.steps)


def hidden_paths(rules: Sequence[MaskingRule], topic: str, rights: frozenset[Right]) -> tuple[MaskPath, ...]:
    """Return the masked paths of `topic` for these rights; of ANY_TOPIC, those masked in some topic."""
    paths = {
        path.text: path
        for rule in rules
        if (topic == ANY_TOPIC or fnmatchcase(topic, rule.topics))
        and (rule.seen_by is None or rule.seen_by not in rights)
        for path in rule.paths
    }
    return tuple(paths.values())


class Masker:
    """Masks records of one reading of `topic`, in one thread."""

    def __init__(self, topic: str, paths: Sequence[MaskPath]):
        self._decoder = RecordDecoder(topic)
        self._steps = {part: [path.steps for path in paths if path.part == part] for part in _PARTS}

    def renew(self) -> None:
        """Give the records of the next read their own time for decoding: what is not decoded is hidden as a whole."""
        self._decoder.renew()

    def masked(self, record: RecordView) -> RecordView:
        return replace(
            record,
            key=self._part("key", record.key),
            value=self._part("value", record.value),
            headers=self._headers(record.headers),
        )

    def _part(self, part: str, data: bytes | None) -> bytes | None:
        steps = self._steps[part]
        if not steps or not data:
            return data
        decoded = self._decoder.decode(part, data)
        document = parse_document(decoded.text if decoded is not None else document_text(data))
        if () in steps or not isinstance(document, dict | list):
            return _MASKED
        try:
            for step in steps:
                _hide(document, step)
            return written(document).encode(errors="replace")
        except RecursionError:
            return _MASKED

    def _headers(self, headers: Headers) -> Headers:
        hidden = {header[0] if header else None for header in self._steps["headers"]}
        if not hidden:
            return headers
        return tuple(
            (name, _MASKED if value and (None in hidden or name in hidden) else value) for name, value in headers
        )


def _hide(document: Any, steps: tuple[str | int, ...]) -> None:
    """Hide parts in place. A path that ends early at a scalar hides that: it may be the same in another form."""
    step, rest = steps[0], steps[1:]
    if isinstance(document, list) and isinstance(step, str):
        for number in range(len(document)):
            _hide_at(document, number, steps)
    elif step in (document if isinstance(document, dict) else range(len(document))):
        _hide_at(document, step, rest)


def _hide_at(document: Any, place: str | int, steps: tuple[str | int, ...]) -> None:
    inner = document[place]
    if steps and isinstance(inner, dict | list):
        _hide(inner, steps)
    elif inner is not None:
        document[place] = MASK
