"""Where the outcomes of a dialogue differ, and dialogues with something left out."""

from collections.abc import Iterator
from typing import Any

from tests.reference.comparison import Pieces, as_a_whole

#: Fields whose difference has no consequence.
_TEXTS = ("error_message", "out", "err")


def pieces(case: dict, ours: dict, reference: dict) -> Pieces:
    """Return (step, {path: value of ours}, {path: value of the reference}) for each value that differs.

    What comes after a step that differs in more than a text may follow from it, and is left out.
    """
    if "steps" not in ours or "steps" not in reference:
        return as_a_whole(case, ours, reference)
    differing: Pieces = []
    for step, mine, theirs in zip(case["steps"], ours["steps"], reference["steps"], strict=True):
        values = list(_values(mine, theirs, ""))
        differing += [(step, {path: a}, {path: b}) for path, a, b in values]
        if any(not path.endswith(_TEXTS) and ".configs." not in path for path, _, _ in values):
            break
    return differing


def _values(ours: Any, reference: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if ours == reference or _begins_so(path, ours, reference):
        return
    if isinstance(ours, dict) and isinstance(reference, dict):
        for key in dict.fromkeys([*ours, *reference]):
            mine, theirs = ours.get(key, "absent"), reference.get(key, "absent")
            yield from _values(mine, theirs, f"{path}.{key}" if path else key)
    elif isinstance(ours, list) and isinstance(reference, list) and len(ours) == len(reference):
        for mine, theirs in zip(ours, reference, strict=True):
            yield from _values(mine, theirs, path)
    else:
        yield path, ours, reference


def _begins_so(path: str, ours: Any, reference: Any) -> bool:
    """Whether a text of ours has the reference's sentence, and perhaps says more. Null and empty are the same."""
    if not path.endswith("error_message") or "absent" in (ours, reference):
        return False
    return not ours if not reference else bool(ours) and ours.startswith(reference.removesuffix("."))


def smaller(case: dict) -> Iterator[dict]:
    """Yield the dialogue without a step, then without something of a request."""
    steps = case["steps"]
    for at in range(len(steps)):
        yield {**case, "steps": steps[:at] + steps[at + 1 :]}
    for at, step in enumerate(steps):
        for body in _without(step.get("body", {})):
            yield {**case, "steps": [*steps[:at], {**step, "body": body}, *steps[at + 1 :]]}


def _without(node: Any) -> Iterator[Any]:
    if isinstance(node, dict) and "$" not in node:
        for key in node:
            yield {name: value for name, value in node.items() if name != key}
        for key, value in node.items():
            yield from ({**node, key: less} for less in _without(value))
    elif isinstance(node, list):
        for at in range(len(node)):
            yield node[:at] + node[at + 1 :]
        for at, element in enumerate(node):
            yield from ([*node[:at], less, *node[at + 1 :]] for less in _without(element))
