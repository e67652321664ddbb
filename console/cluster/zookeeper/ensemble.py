"""Changing the members of an ensemble: who joins and leaves, and which step comes next. Pure.

Every change is one reconfig that takes the ensemble from its old members to its new ones at once: a growth from one to
three never is two, where either failing would stop everything. New servers first follow the leader without a vote until
they have all data; old ones are stopped when the new configuration holds. A server's number is never used twice, so
what an old member left on disk cannot be taken for a new one's.

`next_step` is asked once a second with what is true then. Nothing is remembered between two questions but the change
itself, so it does not matter who asks, or who died in between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from console.kit.gateway.zookeeper.interface import EnsembleConfig

#: What ZooKeeper's users recommend: each more costs every write and adds little.
MEMBERS_MAX = 7
#: ZooKeeper's own limit.
NUMBER_MAX = 255
_SERVING = ("leader", "follower", "observer", "standalone")


class EnsembleChangeKind(StrEnum):
    GROW = "grow"
    SHRINK = "shrink"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Server:
    """One server this console runs: `process` is the name of its managed process."""

    number: int
    process: str
    host: str
    client_port: int
    quorum_port: int
    election_port: int
    directory: str = ""

    @property
    def line(self) -> str:
        """The server's line as reconfig and zoo.cfg have it."""
        return (
            f"server.{self.number}={self.host}:{self.quorum_port}:{self.election_port}:participant;"
            f"{self.host}:{self.client_port}"
        )

    @property
    def address(self) -> str:
        return f"{self.host}:{self.client_port}"


def quorum_of(voter_count: int) -> int:
    return voter_count // 2 + 1


def size_after(kind: EnsembleChangeKind, size: int) -> int:
    """Return the next odd size: an even one needs one more server for a quorum and survives no more failures."""
    match kind:
        case EnsembleChangeKind.GROW:
            return size + (2 if size % 2 else 1)
        case EnsembleChangeKind.SHRINK:
            return max(1, size - (2 if size % 2 else 1))
    return size


def size_advice(size: int) -> str:
    """Return a warning about that ensemble size; empty if there is none."""
    if size > MEMBERS_MAX:
        return (
            f"{size} members are more than {MEMBERS_MAX}: every write waits for {quorum_of(size)} of them, and little "
            "is gained."
        )
    if size > 0 and size % 2 == 0:
        return (
            f"{size} members are an even number: {size - 1} would survive as many failures, with a quorum of "
            f"{quorum_of(size - 1)} instead of {quorum_of(size)}. Three, five or seven are usual."
        )
    return ""


def choose_leaving(numbers: Sequence[int], serving: frozenset[int], count: int) -> tuple[int, ...]:
    """Choose members to remove: first those that do not serve, then the newest: the oldest addresses stand in most
    configurations.
    """
    order = sorted(numbers, key=lambda number: (number in serving, -number))
    return tuple(sorted(order[:count]))


def next_numbers(used: Sequence[int], count: int) -> list[int]:
    """Return numbers that no server has had. Shorter than `count` when there are no more."""
    first = max(used, default=0) + 1
    return [number for number in range(first, first + count) if number <= NUMBER_MAX]


class Stage(IntEnum):
    """How far a change is; what comes before is done."""

    START = 0
    SYNC = 1
    RECONFIG = 2
    TELL = 3
    STOP = 4
    DONE = 5


class EnsembleStep(StrEnum):
    NOTHING = "nothing"
    START = "start"
    RECONFIG = "reconfig"
    TELL = "tell"
    STOP = "stop"
    FINISH = "finish"
    WITHDRAW = "withdraw"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """`sentence` is what the processes page says of it."""

    has_ended: bool = False
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class EnsembleFacts:
    """`config` is None while the ensemble does not answer; `why_silent` says so.

    `processes` are those of servers that have a row, by number; `modes` what those servers that serve say they are.
    `is_asked`: a reconfig was sent and nobody knows for certain that it was refused.
    """

    joining: tuple[Server, ...]
    leaving: tuple[int, ...]
    config: EnsembleConfig | None
    processes: Mapping[int, ProcessFacts]
    modes: Mapping[int, str]
    are_brokers_told: bool
    is_called_off: bool = False
    is_asked: bool = False
    why_silent: str = ""


@dataclass(frozen=True, slots=True)
class EnsembleDecision:
    do: EnsembleStep
    stage: Stage
    sentence: str
    #: The servers that are started, stopped or withdrawn.
    numbers: tuple[int, ...] = ()


def next_step(facts: EnsembleFacts) -> EnsembleDecision:
    """Return the next step, and the sentence for the page."""
    if facts.config is None:
        return EnsembleDecision(EnsembleStep.NOTHING, Stage.SYNC, f"Waits for the ensemble: {facts.why_silent}")
    numbers = facts.config.numbers
    if not _is_reconfigured(facts, numbers):
        may_withdraw = facts.is_called_off and not facts.is_asked
        return _call_off(facts, numbers) if may_withdraw else _before(facts, numbers)
    return _after(facts, numbers)


def _is_reconfigured(facts: EnsembleFacts, numbers: frozenset[int]) -> bool:
    return all(server.number in numbers for server in facts.joining) and not numbers & set(facts.leaving)


def _before(facts: EnsembleFacts, numbers: frozenset[int]) -> EnsembleDecision:
    missing = tuple(server.number for server in facts.joining if server.number not in facts.processes)
    if missing:
        return EnsembleDecision(EnsembleStep.START, Stage.START, f"Starts {name_servers(missing)}.", missing)
    unready = [item.number for item in facts.joining if facts.modes.get(item.number) not in _SERVING]
    ended = [number for number in unready if facts.processes[number].has_ended]
    if ended:
        who, why = name_servers(ended[:1], capital=True), facts.processes[ended[0]].sentence.rstrip(".")
        sentence = f"{who} does not run: {why}. Start it on the processes page, or call this off."
        return EnsembleDecision(EnsembleStep.NOTHING, Stage.SYNC, sentence)
    if unready:
        sentence = f"Waits until {name_servers(unready)} {_has(unready)} all data from the leader."
        return EnsembleDecision(EnsembleStep.NOTHING, Stage.SYNC, sentence)
    staying = numbers - set(facts.leaving)
    silent = sorted(number for number in staying if facts.modes.get(number) not in _SERVING)
    after = len(staying) + len(facts.joining)
    if after - len(silent) < quorum_of(after):
        sentence = f"Waits for {name_servers(silent)}: without a quorum of the new members nothing would work."
        return EnsembleDecision(EnsembleStep.NOTHING, Stage.RECONFIG, sentence)
    return EnsembleDecision(EnsembleStep.RECONFIG, Stage.RECONFIG, "Asks the leader to change the members.")


def _after(facts: EnsembleFacts, numbers: frozenset[int]) -> EnsembleDecision:
    if not facts.are_brokers_told:
        return EnsembleDecision(
            EnsembleStep.TELL, Stage.TELL, "Writes the new members into the brokers' configuration."
        )
    left = tuple(number for number in facts.leaving if number in facts.processes)
    if left:
        return EnsembleDecision(EnsembleStep.STOP, Stage.STOP, f"Stops {name_servers(left)}.", left)
    silent = sorted(number for number in numbers if facts.modes.get(number) not in _SERVING)
    down = f" {name_servers(silent, capital=True)} {_does(silent)} not serve now." if silent else ""
    too_late = " It was called off when the members had changed already." if facts.is_called_off else ""
    members = name_servers(sorted(numbers))
    return EnsembleDecision(EnsembleStep.FINISH, Stage.DONE, f"Done: the ensemble is {members}.{down}{too_late}")


def _call_off(facts: EnsembleFacts, numbers: frozenset[int]) -> EnsembleDecision:
    started = tuple(server.number for server in facts.joining if server.number in facts.processes)
    if started:
        return EnsembleDecision(
            EnsembleStep.WITHDRAW, Stage.START, f"Called off: stops {name_servers(started)}.", started
        )
    members = name_servers(sorted(numbers))
    return EnsembleDecision(EnsembleStep.CANCEL, Stage.START, f"Called off: the ensemble is {members}, as before.")


def name_servers(numbers: Sequence[int], *, capital: bool = False) -> str:
    """Return: server 2 · servers 2 and 3 · servers 1, 2 and 3."""
    texts = [str(number) for number in numbers]
    listed = texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
    noun = "server" if len(texts) == 1 else "servers"
    return f"{noun.capitalize() if capital else noun} {listed}"


def _has(numbers: Sequence[int]) -> str:
    return "has" if len(numbers) == 1 else "have"


def _does(numbers: Sequence[int]) -> str:
    return "does" if len(numbers) == 1 else "do"
