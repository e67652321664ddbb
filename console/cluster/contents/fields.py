"""Which fields documents have: paths, how many have each, of which types, and an example. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from console.cluster.records.columns import Digits, cell_at
from console.cluster.records.masking import MASK

PATHS_MAX = 300
DEPTH_MAX = 6
NAMES_MAX = 100
ELEMENTS_MAX = 20
NAME_LENGTH_MAX = 100
PATH_LENGTH_MAX = 300


@dataclass(slots=True)
class ProfileField:
    count: int = 0
    types: Counter[str] = field(default_factory=Counter)
    example: str = ""


class Fields:
    """Fields of one part of the records. `left_out`: documents of which something was too deep or too much."""

    def __init__(self) -> None:
        self.documents = self.left_out = 0
        self._by_path: dict[str, ProfileField] = {}

    def add(self, document: object) -> None:
        self.documents += 1
        seen: dict[str, list[object]] = {}
        is_whole = _walk(document, seen)
        for path, values in seen.items():
            known = self._by_path.get(path)
            if known is None:
                if len(self._by_path) == PATHS_MAX:
                    is_whole = False
                    continue
                known = self._by_path[path] = ProfileField()
            known.count += 1
            known.types.update({type_of(value) for value in values})
            known.example = known.example or _example(values)
        self.left_out += not is_whole

    def by_path(self) -> Iterator[tuple[str, ProfileField]]:
        """Yield the fields by path, parents before children."""
        yield from sorted(self._by_path.items())


def type_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, Digits):
        return "number" if set(value) & set(".eE") else "integer"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    return "hidden" if value == MASK else "string"


def _walk(document: object, seen: dict[str, list[object]]) -> bool:
    """Note every path of `document` with its value; return whether that is all of it."""
    is_whole, left = True, [("", document, 0)]
    while left:
        path, node, depth = left.pop()
        inner: list[tuple[str, object]] = []
        if isinstance(node, dict):
            is_whole &= len(node) <= NAMES_MAX and all(len(name) <= NAME_LENGTH_MAX for name in node)
            names = [name for name in node if len(name) <= NAME_LENGTH_MAX][:NAMES_MAX]
            inner = [(f"{path}.{name}" if path else name, node[name]) for name in names]
        elif isinstance(node, list):
            is_whole &= len(node) <= ELEMENTS_MAX
            inner = [(f"{path}[]", item) for item in node[:ELEMENTS_MAX]]
        if inner and (depth == DEPTH_MAX or len(inner[0][0]) > PATH_LENGTH_MAX or len(seen) > PATHS_MAX):
            is_whole = False
            continue
        for place, value in inner:
            seen.setdefault(place, []).append(value)
            left.append((place, value, depth + 1))
    return is_whole


def _example(values: list[object]) -> str:
    """Return an example value that is no container and no null; a container's fields have examples of their own."""
    plain = (value for value in values if value is not None and not isinstance(value, dict | list))
    return next((cell_at(value, ()) for value in plain), "")
