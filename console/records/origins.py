"""Which topics the records of a topic come from as they are: those of dead letters, and of copies that mirrors make.

What is hidden of an origin is hidden of them, too, under whatever name they lie. Features above tell what they know.
"""

from collections.abc import Callable, Iterable, Iterator

from console.processes.dependents import wiring_of
from console.processes.models import ManagedProcess

#: By feature: a topic → the topics its records come from.
ORIGINS: dict[str, Callable[[str], Iterable[str]]] = {}
#: A copy of a copy of a copy …
_STEPS_MAX = 5
_NAMES_MAX = 200


def names_of(topic: str) -> tuple[str, ...]:
    """Return `topic`, and behind it all origins that are known."""
    names, newest = dict.fromkeys([topic]), [topic]
    for _ in range(_STEPS_MAX):
        newest = [each for name in newest for each in _origins_of(name) if each not in names]
        names |= dict.fromkeys(newest[: _NAMES_MAX - len(names)])
        if not newest or len(names) >= _NAMES_MAX:
            break
    return tuple(names)


def _origins_of(topic: str) -> Iterator[str]:
    for process in ManagedProcess.objects.filter(kind=ManagedProcess.Kind.STREAM):
        if process.spec.get("properties", {}).get("dead.letter.topic") == topic:
            yield from sorted(wiring_of(process).reads)
    for origins_of in ORIGINS.values():
        yield from origins_of(topic)
