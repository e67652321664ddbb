"""A connector as a page shows it to one person: what it does, what has failed and at which record, how far it is."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from console.ecosystem.connectors.access import may_read_traces
from console.ecosystem.connectors.failed_stage import FailedStage, failed_stage
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.places import RecordRange, error_in, pattern_in, place_in
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right
from console.state.consumers.models import ConsumerGroup

HIDDEN = "names a topic that your rights do not reach"
_TONES = {"RUNNING": "ok", "FAILED": "critical", "UNASSIGNED": "warning", "RESTARTING": "busy"}
_NAME = re.compile(r"[\w.-]+", re.ASCII)


def tone_of(state: str) -> str:
    return _TONES.get(state, "plain")


@dataclass(frozen=True)
class ShownTask:
    """`number` -1: the connector itself. Without what may not be read, `trace` and the error's sentence are empty."""

    number: int
    state: str
    worker: str
    trace: str
    error_class: str
    error: str
    place: RecordRange | None
    may_read_record: bool
    stage: FailedStage | None = None

    @property
    def tone(self) -> str:
        return tone_of(self.state)

    @property
    def is_failed(self) -> bool:
        return self.state == "FAILED"


@dataclass(frozen=True)
class ShownConnector:
    """`group` of a sink, if it is seen and in reach; `rate` of a source: into the topics it names, by whomever."""

    row: Connector
    reach: Reach
    group: ConsumerGroup | None = None
    rate: float | None = None
    hidden_topics: Collection[str] = ()
    #: Of a failed sink, counted by its topics' logs; None: it runs, or they are not known.
    unread: int | None = None
    #: Topics within reach that its pattern matches now; None: it has none, or it cannot be matched.
    matched: Sequence[str] | None = None
    #: Topics within reach that it is to read and that no member of its group has held for a minute, though it runs.
    unassigned: Sequence[str] = ()

    @property
    def lag(self) -> int | None:
        """Records that a sink has not read; None: not known, or a source."""
        if self.unread is not None:
            return self.unread
        return None if self.group is None else self.group.lag

    @property
    def word(self) -> str:
        """The connector's state, or that not all of it is in that state, or does not do what the state says."""
        row = self.row
        if self.unassigned:
            return "NOT READING" if len(self.unassigned) == self.wanted_count else "DEGRADED"
        if row.state == "RUNNING" and row.failed_count:
            return "FAILED" if row.failed_count == row.task_count else "DEGRADED"
        return row.state

    @property
    def tone(self) -> str:
        if self.unassigned:
            return "warning"
        return "critical" if self.word == "DEGRADED" else tone_of(self.word)

    @property
    def wanted_count(self) -> int:
        """Return how many topics a sink is to read, as far as they are in reach."""
        return len(self.topics if self.matched is None else self.matched)

    @cached_property
    def may_read_traces(self) -> bool:
        return may_read_traces(self.reach, self.row.topics)

    @cached_property
    def tasks(self) -> list[ShownTask]:
        return [self._task(*task) for task in self.row.tasks]

    @cached_property
    def own(self) -> ShownTask:
        return self._task(-1, self.row.state, self.row.worker, self.row.trace)

    @property
    def failures(self) -> list[ShownTask]:
        return [task for task in (self.own, *self.tasks) if task.is_failed]

    @property
    def is_certain_to_fail_again(self) -> bool:
        """Whether a restart meets a failure again, since a record alone makes it."""
        return any(task.stage and task.stage.is_certain_to_fail_again for task in self.failures)

    @property
    def faltering(self) -> list[ShownTask]:
        """Why a running connector makes no progress and retries."""
        return [task for task in (self.own, *self.tasks) if task.state == "RUNNING" and task.error_class]

    @property
    def topics(self) -> list[str]:
        """Return the topics that the user may see."""
        return [topic for topic in self.row.topics if self._sees(topic)]

    @property
    def pattern(self) -> str:
        """Return the pattern of a sink that names no topics, as far as it is in reach; empty: it has none."""
        return pattern_in(config_within(self.reach, self.row.config, self.hidden_topics))

    @property
    def hidden_count(self) -> int:
        return len(self.row.topics) - len(self.topics)

    @property
    def dead_letters(self) -> str:
        return self.row.dead_letters if self.row.dead_letters and self._sees(self.row.dead_letters) else ""

    @property
    def may_read_dead_letters(self) -> bool:
        return Right.RECORDS in self.reach.rights_on(Resource.TOPIC, self.row.dead_letters)

    @property
    def config(self) -> list[tuple[str, str]]:
        return sorted(config_within(self.reach, self.row.config, self.hidden_topics).items())

    def _task(self, number: int, state: str, worker: str, trace: str) -> ShownTask:
        place = place_in(trace) if trace else None
        if place is not None and not self._sees(place.topic):
            place = None
        name, error = error_in(trace) if trace else ("", "")
        is_read = self.may_read_traces
        may_read_record = place is not None and Right.RECORDS in self.reach.rights_on(Resource.TOPIC, place.topic)
        shown = (trace, name, error) if is_read else ("", name, "")
        return ShownTask(number, state, worker, *shown, place, may_read_record, failed_stage(trace))

    def _sees(self, topic: str) -> bool:
        return Right.VIEW in self.reach.rights_on(Resource.TOPIC, topic)


def config_within(reach: Reach, config: Mapping[str, str], hidden_topics: Iterable[str]) -> dict[str, str]:
    """Return the configuration without values that name topics out of reach."""
    if not reach.is_limited(Resource.TOPIC):
        return dict(config)
    hidden = frozenset(hidden_topics)

    def is_told(key: str, value: str) -> bool:
        words = set(_NAME.findall(value))
        if words & hidden:
            return False
        return "topic" not in key.lower() or all(Right.VIEW in reach.rights_on(Resource.TOPIC, word) for word in words)

    return {key: value if is_told(key, value) else HIDDEN for key, value in config.items()}
