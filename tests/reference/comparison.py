"""Cases through both sides, what differs shrunk to its smallest, and held against the list of differences."""

import json
import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.reference.notation import normal

DIFFERENCES = Path(__file__).parent / "differences.toml"
REASONS = ("kafka-bug", "stricter-on-purpose", "not-yet")
_SHOWN = 20
_SHRINK_ROUNDS = 40


class Reference(Protocol):
    """What is compared with: the Java program, or what a subject starts."""

    def outcomes(self, cases: list[dict]) -> list[dict]:
        """Return the outcome of each case, in their order."""
        ...


Pieces = list[tuple[dict, dict, dict]]


def as_a_whole(case: dict, ours: dict, reference: dict) -> Pieces:
    return [(case, ours, reference)]


@dataclass(frozen=True)
class Processes:
    """What has to run for a subject: our side alone, and the reference. Started once for all subjects that name it."""

    ours: Callable[[], AbstractContextManager[None]]
    reference: Callable[[Reference], AbstractContextManager[Reference]]


@dataclass(frozen=True)
class Subject:
    """What is compared: `make` draws a case, `ours` is what Barnabas makes of it.

    Without `processes` the reference is the Java program. `pieces` are the parts of a case whose outcomes differ, each
    of which has to be listed as (case, ours, reference). `smaller` yields cases with something left out. `given` is the
    case as the Java program is to have it; what that adds need be neither recorded nor shrunk.
    """

    name: str
    make: Callable[[random.Random], dict]
    ours: Callable[[dict], dict]
    cases: int = 1_000
    processes: Processes | None = None
    pieces: Callable[[dict, dict, dict], Pieces] = as_a_whole
    smaller: Callable[[dict], Iterator[dict]] | None = None
    given: Callable[[dict], dict] = dict


@dataclass(frozen=True)
class Difference:
    """A listed difference; each pattern is searched in JSON. `example` is a case of it, which is always tried.

    With `only` the outcomes differ in nothing but the member of that name.
    """

    id: str
    subject: str
    reason: str
    since: str
    why: str
    example: str
    case: str = ""
    ours: str = ""
    reference: str = ""
    only: str = ""

    def fits(self, case: dict, ours: dict, reference: dict) -> bool:
        members = (ours.keys() | reference.keys()) - {self.only}
        if self.only and any(ours.get(name) != reference.get(name) for name in members):
            return False
        pairs = ((self.case, case), (self.ours, ours), (self.reference, reference))
        return all(re.search(pattern, text_of(value)) for pattern, value in pairs)


@dataclass
class Comparison:
    """Counts of one subject; `unlisted` are shrunk cases with both outcomes, `gone` are ids that no longer occur."""

    subject: str
    cases: int = 0
    equal: int = 0
    listed: Counter = field(default_factory=Counter)
    unlisted: list[tuple[dict, dict, dict]] = field(default_factory=list)
    unlisted_count: int = 0
    gone: list[str] = field(default_factory=list)


def text_of(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def listed_differences() -> list[Difference]:
    """Return what `differences.toml` lists. Raises ValueError for a reason that is none."""
    read = [Difference(**entry) for entry in tomllib.loads(DIFFERENCES.read_text()).get("difference", ())]
    if odd := [difference.id for difference in read if difference.reason not in REASONS]:
        raise ValueError(f"differences without one of the reasons {REASONS}: {odd}")
    return read


def ours_of(subject: Subject, case: dict) -> dict:
    """Return what Barnabas makes of it; an error that is no refusal is a difference, whatever the reference does."""
    try:
        return normal(subject.ours(case))
    except Exception as error:
        return {"crashed": type(error).__name__}


def outcomes_of(subject: Subject, reference: Reference, cases: list[dict]) -> list[dict]:
    """Return what the reference makes of each case; one that was shrunk until it cannot be given to it is invalid."""
    given = [_given(subject, case) for case in cases]
    outcomes = iter(reference.outcomes([case for case in given if case is not None]))
    return [{"invalid": True} if case is None else normal(next(outcomes)) for case in given]


def _given(subject: Subject, case: dict) -> dict | None:
    try:
        return subject.given(case)
    except Exception:
        return None


def compare(subject: Subject, jvm: Reference, seed: int, count: int | None = None) -> Comparison:
    """Return the counts of a subject; unlisted differences are shrunk and named once each."""
    drawn = random.Random(f"{subject.name} {seed}")
    listed = [difference for difference in listed_differences() if difference.subject == subject.name]
    examples = [json.loads(difference.example) for difference in listed]
    cases = [*examples, *(subject.make(drawn) for _ in range(count or subject.cases))]
    result = Comparison(subject.name, len(cases))
    seen: Counter = Counter()
    shown: set[str] = set()
    for case, reference in zip(cases, outcomes_of(subject, jvm, cases), strict=True):
        ours = ours_of(subject, case)
        if "invalid" in reference:
            result.cases -= 1
            continue
        if agree(subject, case, ours, reference):
            result.equal += 1
            continue
        fitting = listed_of(subject, listed, case, ours, reference)
        if fitting:
            result.listed[fitting[0].reason] += 1
            seen.update({difference.id for difference in fitting})
            continue
        result.unlisted_count += 1
        kind = _kind_of(subject, listed, case, ours, reference)
        if len(result.unlisted) < _SHOWN and kind not in shown:
            shown.add(kind if subject.processes else str(case))
            shrunk = _shrunk(subject, jvm, listed, (case, ours, reference))
            if shrunk not in result.unlisted:
                result.unlisted.append(shrunk)
    result.gone = [difference.id for difference in listed if not seen[difference.id]]
    return result


def agree(subject: Subject, case: dict, ours: dict, reference: dict) -> bool:
    """Return whether no piece of the outcomes differs."""
    return ours == reference or not subject.pieces(case, ours, reference)


def listed_of(subject: Subject, listed: list[Difference], case: dict, ours: dict, reference: dict) -> list[Difference]:
    """Return the listed differences of which a case is one; none if a piece of it is not listed."""
    fitting = [
        next((difference for difference in listed if difference.fits(*piece)), None)
        for piece in subject.pieces(case, ours, reference)
    ]
    return [] if None in fitting else fitting


def _kind_of(subject: Subject, listed: list[Difference], case: dict, ours: dict, reference: dict) -> str:
    """Return what a smaller case has to keep: the first piece that is not listed, or which of both refuse."""
    if subject.processes is None:
        return text_of([sorted(ours), sorted(reference)])
    pieces = subject.pieces(case, ours, reference)
    unlisted = [piece[1:] for piece in pieces if not any(difference.fits(*piece) for difference in listed)]
    return text_of(unlisted[:1])


def _outcomes(subject: Subject, reference: Reference, cases: list[dict]) -> Iterator[dict]:
    """Yield outcomes as they are wanted where each takes its time, else all of them at once."""
    if subject.processes is None:
        yield from outcomes_of(subject, reference, cases)
    else:
        yield from (outcome for case in cases for outcome in outcomes_of(subject, reference, [case]))


def _shrunk(subject: Subject, jvm: Reference, listed: list[Difference], shrunk: tuple) -> tuple[dict, dict, dict]:
    smaller = subject.smaller or _smaller
    for _ in range(_SHRINK_ROUNDS):
        candidates = [case for case in smaller(shrunk[0]) if len(text_of(case)) < len(text_of(shrunk[0]))][:300]
        for case, reference in zip(candidates, _outcomes(subject, jvm, candidates), strict=False):
            ours = ours_of(subject, case)
            is_same_kind = _kind_of(subject, listed, case, ours, reference) == _kind_of(subject, listed, *shrunk)
            is_listed = agree(subject, case, ours, reference) or listed_of(subject, listed, case, ours, reference)
            if is_same_kind and not is_listed:
                shrunk = (case, ours, reference)
                break
        else:
            break
    return shrunk


def _smaller(node: object) -> Iterator:
    """The same JSON with something left out, the largest parts first."""
    if isinstance(node, str):
        if len(node) > 3:
            yield node[: len(node) // 2]
            yield node[len(node) // 2 :]
        yield from (node[:at] + node[at + 1 :] for at in range(len(node)))
    elif isinstance(node, dict):
        for key in node:
            if key not in ("op", "class", "type", "kind"):
                yield {name: item for name, item in node.items() if name != key}
                yield from ({**node, key: smaller} for smaller in _smaller(node[key]))
    elif isinstance(node, list):
        is_pair = len(node) == 2 and isinstance(node[0], str)
        if not is_pair:
            yield from (node[:at] + node[at + 1 :] for at in range(len(node)))
        for at in range(int(is_pair), len(node)):
            yield from ([*node[:at], smaller, *node[at + 1 :]] for smaller in _smaller(node[at]))


def table(results: list[Comparison]) -> str:
    """Return the counts as lines: cases, equal, listed by reason, unlisted."""
    heads = ("subject", "cases", "equal", *REASONS, "unlisted")
    rows = [
        (
            result.subject,
            result.cases,
            result.equal,
            *(result.listed[reason] for reason in REASONS),
            result.unlisted_count,
        )
        for result in results
    ]
    totals = ("all", *(sum(row[at] for row in rows) for at in range(1, len(heads))))
    lines = [heads, *rows, totals]
    return "\n".join(f"{line[0]:24}" + "".join(f"{cell!s:>21}" for cell in line[1:]) for line in lines)
