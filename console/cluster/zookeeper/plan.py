"""A change of the ensemble as it is shown and confirmed: from whom to whom, what holds meanwhile, how it is undone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.cluster.zookeeper.ensemble import (
    MEMBERS_MAX,
    EnsembleChangeKind,
    Server,
    choose_leaving,
    name_servers,
    quorum_of,
    size_advice,
    size_after,
)
from console.kit.gateway.zookeeper.interface import EnsembleConfig
from console.kit.plans.plan import Plan, PlanLine

UNDER_WAY = "Another change of the ensemble is under way."
_ONE_MACHINE = (
    "The new servers run on this machine: they keep ZooKeeper up when one of its processes fails, not when the machine "
    "does."
)
_CLIENTS = (
    "Brokers and the console learn of the members by themselves while they run; the brokers' "
    "zookeeper.connect is rewritten for their next start. Other clients keep the addresses they were given."
)


@dataclass(frozen=True, slots=True)
class EnsembleNow:
    """What a plan is worked out from. `managed` are numbers of members whose process this console runs."""

    config: EnsembleConfig
    serving: frozenset[int]
    leader: int | None
    managed: frozenset[int]
    is_change_open: bool = False


@dataclass(frozen=True, slots=True)
class EnsemblePlan:
    kind: EnsembleChangeKind
    joining: tuple[Server, ...]
    leaving: tuple[int, ...]
    plan: Plan


def wanted_count(kind: EnsembleChangeKind, size: int) -> int:
    """Return how many new servers the change needs."""
    match kind:
        case EnsembleChangeKind.GROW:
            return size_after(kind, size) - size
        case EnsembleChangeKind.SHRINK:
            return 0
    return 1


def plan_change(
    kind: EnsembleChangeKind, present: EnsembleNow, offered: tuple[Server, ...], replaced: int | None = None
) -> EnsemblePlan:
    """Plan the change. `offered`: servers to start, as many as `wanted_count`; `replaced`: the server that leaves."""
    numbers = sorted(present.config.numbers)
    size = len(numbers)
    leaving: tuple[int, ...] = ()
    if kind is EnsembleChangeKind.SHRINK:
        leaving = choose_leaving(numbers, present.serving, size - size_after(kind, size))
    elif kind is EnsembleChangeKind.REPLACE and replaced in numbers:
        leaving = (replaced,)
    obstacle = _obstacle(kind, present, offered, leaving)
    lines = tuple(_lines(present.config, offered, leaving))
    plan = Plan(
        action=f"{kind} ensemble",
        object_type="zookeeper ensemble",
        object_name=_title(offered, leaving),
        lines=lines,
        read=(*_read(present), *map(repr, offered), *(f"leaves {number}" for number in leaving)),
        touches=_touches(present, offered, leaving),
        losses=(),
        safe_because=_why_safe(kind),
        undo=_undo(kind),
        command=_command(offered, leaving),
        obstacle=obstacle,
    )
    return EnsemblePlan(kind, offered, leaving, plan)


def _why_safe(kind: EnsembleChangeKind) -> str:
    return (
        ""
        if kind is EnsembleChangeKind.SHRINK
        else "The servers agree on each step, and as many stay as can be missed now."
    )


def _title(joining: tuple[Server, ...], leaving: tuple[int, ...]) -> str:
    parts = [f"+{item.number}" for item in joining] + [f"-{number}" for number in leaving]
    return f"servers {' '.join(parts)}"


def _lines(config: EnsembleConfig, joining: tuple[Server, ...], leaving: tuple[int, ...]) -> Iterable[PlanLine]:
    for new in joining:
        yield PlanLine(f"server {new.number}", None, new.line.partition("=")[2])
    for member in config.members:
        if member.number in leaving:
            yield PlanLine(f"server {member.number}", member.line.partition("=")[2], None)


def _read(present: EnsembleNow) -> Iterable[str]:
    yield f"version {present.config.version:x}"
    for member in present.config.members:
        yield member.line
    yield f"serving {sorted(present.serving)} leader {present.leader} open {present.is_change_open}"


def _obstacle(
    kind: EnsembleChangeKind, present: EnsembleNow, joining: tuple[Server, ...], leaving: tuple[int, ...]
) -> str:
    numbers = present.config.numbers
    foreign = sorted(numbers - present.managed)
    if present.is_change_open:
        return UNDER_WAY
    if foreign:
        return f"This console does not run {name_servers(foreign)}: it changes only ensembles it runs."
    if kind is EnsembleChangeKind.GROW and size_after(kind, len(numbers)) > MEMBERS_MAX:
        return f"More than {MEMBERS_MAX} members are not made: every write waits for more of them, for little gain."
    if kind is EnsembleChangeKind.SHRINK and len(numbers) == 1:
        return "There is one server; without it nothing works."
    if kind is EnsembleChangeKind.REPLACE and not leaving:
        return "This server is no member now."
    if len(joining) < wanted_count(kind, len(numbers)):
        return "No free ports or numbers were found for new servers."
    return _quorum_obstacle(present, joining, leaving)


def _quorum_obstacle(present: EnsembleNow, joining: tuple[Server, ...], leaving: tuple[int, ...]) -> str:
    """Return why a reconfiguration has no quorum; it needs one of the old members and one of the new ones."""
    numbers = present.config.numbers
    if len(numbers & present.serving) < quorum_of(len(numbers)) or present.leader is None:
        return "The ensemble has no quorum now: bring its members back first."
    staying = numbers - set(leaving)
    after = len(staying) + len(joining)
    if len(staying & present.serving) + len(joining) < quorum_of(after):
        return "Too few of the members that would be left serve now: bring them back first."
    return ""


def _touches(present: EnsembleNow, joining: tuple[Server, ...], leaving: tuple[int, ...]) -> tuple[str, ...]:
    before = len(present.config.numbers)
    after = before + len(joining) - len(leaving)
    sentences = [f"Before: {_survives(before)}. After: {_survives(after)}.", *filter(None, [size_advice(after)])]
    if joining:
        new = name_servers([item.number for item in joining])
        start, take = ("starts", "takes") if len(joining) == 1 else ("start", "take")
        sentences.append(
            f"First {new} {start} and, without a vote, {take} all data from the leader; reads and writes go on. "
            "Then one step changes all members at once."
        )
        sentences.append(_ONE_MACHINE)
    if present.leader in leaving:
        sentences.append(
            f"Server {present.leader} leads: when it goes the others elect a leader, usually within a second, in which "
            "no write is taken. Sessions live on, so brokers stay registered."
        )
    elif leaving:
        sentences.append("The leader stays: no election is needed. Clients of those that go connect to another member.")
    if leaving:
        gone, are = name_servers(leaving, capital=True), "is" if len(leaving) == 1 else "are"
        sentences.append(f"{gone} {are} stopped when the members have changed; the files stay.")
    return (*sentences, _CLIENTS)


def _survives(size: int) -> str:
    spare = size - quorum_of(size)
    lost = "none may fail" if spare == 0 else f"{spare} may fail"
    return f"{size} member{'' if size == 1 else 's'}, {quorum_of(size)} needed, {lost}"


def _undo(kind: EnsembleChangeKind) -> str:
    return {
        EnsembleChangeKind.GROW: "until the members change it can be called off; then shrink the ensemble.",
        EnsembleChangeKind.SHRINK: "grow the ensemble again.",
        EnsembleChangeKind.REPLACE: "until the members change it can be called off; then replace the new one.",
    }[kind]


def _command(joining: tuple[Server, ...], leaving: tuple[int, ...]) -> str:
    add = f" -add {','.join(name.line for name in joining)}" if joining else ""
    remove = f" -remove {','.join(map(str, leaving))}" if leaving else ""
    return f"zkCli.sh: reconfig{remove}{add}"


def present_from(
    config: EnsembleConfig, modes: Mapping[int, str], managed: frozenset[int], is_change_open: bool
) -> EnsembleNow:
    """Return the ensemble now; `modes` are of the serving members."""
    leader = next((number for number, mode in modes.items() if mode in ("leader", "standalone")), None)
    return EnsembleNow(config, frozenset(modes) & config.numbers, leader, managed & config.numbers, is_change_open)
