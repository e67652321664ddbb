"""Which topics the records of a topic come from as they are: those of dead letters, of
what stream jobs write, and of copies that mirrors make.

What is hidden of an origin is hidden of them, too, under whatever name they lie. Features above tell what they know.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from console.cluster.records.masking import ANY_TOPIC
from console.kit.common.hook_point import HookPoint
from console.processes.dependents import wiring_of
from console.processes.models import ManagedProcess


class Origin(NamedTuple):
    """`topic` has records of topic `name`: `dead letters of connector` and `sink`, a name for rules, or empty.

    `is_lasting`: it has them also when what copied them is gone.
    """

    topic: str
    name: str
    where: str
    source: str
    is_lasting: bool = True


def origins_of_streams(topic: str) -> Iterator[Origin]:
    """Yield each topic a stream job reads as an origin of each topic it writes: it may pass on records or parts."""
    for process in ManagedProcess.objects.filter(kind=ManagedProcess.Kind.STREAM):
        dead_letters, wiring = process.spec.get("properties", {}).get("dead.letter.topic"), wiring_of(process)
        for written in sorted(wiring.writes | {dead_letters} - {None, ""}):
            if topic in ("", written):
                where = f"{'dead letters' if written == dead_letters else 'output'} of stream job"
                yield from (Origin(written, origin, where, process.name) for origin in sorted(wiring.reads))


#: A topic → the topics its records come from; without a topic those of all.
ORIGINS = HookPoint[Callable[[str], Iterable[Origin]]]("console.cluster.records.origins.ORIGINS")
#: Likewise of topics whose connector, mirror or stream job is gone.
REMEMBERED = HookPoint[Callable[[str], Iterable[str]]]("console.cluster.records.origins.REMEMBERED")
#: A copy of a copy of a copy …
_STEPS_MAX = 5
NAMES_MAX = 200


def names_of(topic: str) -> tuple[str, ...]:
    """Return `topic`, and behind it all origins that are known; ANY_TOPIC among them if these are too many."""
    return _with_origins(topic, _origins_of)


def all_origins(*, only_lasting: bool = False) -> list[Origin]:
    """Return all that are known by connectors, mirrors and stream jobs, those of origins among them."""
    direct: dict[str, dict[str, Origin]] = {}
    for origin in (origin for origins_of in ORIGINS for origin in origins_of("")):
        if only_lasting and not origin.is_lasting:
            continue
        direct.setdefault(origin.topic, {}).setdefault(origin.name, origin)
    named = []
    for topic, origins in direct.items():
        first = next(iter(origins.values()))
        for name in _with_origins(topic, lambda name: direct.get(name, ()))[1:]:
            known = origins.get(name, first)
            named.append(known._replace(name=name))
    return named


def _with_origins(topic: str, origins_of: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    names, newest = dict.fromkeys([topic]), [topic]
    for _ in range(_STEPS_MAX + 1):
        newest = list(dict.fromkeys(origin for name in newest for origin in origins_of(name) if origin not in names))
        if not newest:
            return tuple(names)
        if len(names) + len(newest) > NAMES_MAX:
            break
        names |= dict.fromkeys(newest)
    return (*names, ANY_TOPIC)


def _origins_of(topic: str) -> Iterator[str]:
    for origins_of in ORIGINS:
        yield from (origin.name for origin in origins_of(topic))
    for remembered in REMEMBERED:
        yield from remembered(topic)
