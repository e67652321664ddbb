"""The groups coordinated here: what they committed of topics that are counted becomes steps of the audit.

Nothing is read back after a change of coordinator: where a group stands is in the offsets topic, and the new
coordinator begins an epoch there, as does a group that was forgotten and comes back. A step is told when what was
committed cannot be lost any more.
"""

import asyncio
import uuid
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from broker.audit.increment import POSITIONS_GROUP, AuditTier, Increment
from broker.audit.reporter import SourceReporter
from broker.common.clock import Clock
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.runtime.audit.append_audit import is_counted
from broker.runtime.audit.group_steps import GroupPartition, GroupSteps, Steps
from broker.runtime.coordinators.group_coordinators import GroupCoordinators
from broker.runtime.topics.topic_configs import TopicConfigs

#: Partitions of groups of which one round tells; the others come next.
_AT_ONCE = 2_000
_SETTINGS_KNOWN_MS = 30_000
_SETTINGS_WITHIN_S = 5.0


@dataclass(slots=True)
class _Coordinated:
    """One coordinator, as long as it is loaded. `unsent`: told, and not known to have arrived."""

    steps: GroupSteps = field(default_factory=GroupSteps)
    reporters: dict[str, SourceReporter] = field(default_factory=dict)
    unsent: list[Increment] = field(default_factory=list)

    def forget_all_but(self, groups: Collection[str]) -> None:
        """Forget all other groups: clients choose their names, so state of deleted ones must not stay."""
        if len(self.reporters) > len(groups):
            self.reporters = {name: item for name, item in self.reporters.items() if name in groups}


class GroupAudit:
    """Used by one task only."""

    def __init__(self, groups: GroupCoordinators, topic_configs: TopicConfigs, clock: Clock):
        self._groups = groups
        self._topic_configs = topic_configs
        self._clock = clock
        self._coordinated: WeakKeyDictionary[GroupCoordinator, _Coordinated] = WeakKeyDictionary()
        #: Topics that are counted or are not, and until when that is believed.
        self._settings: dict[str, tuple[bool, int]] = {}

    def follow(self) -> None:
        """Listen to every coordinator that is loaded by now."""
        for coordinator in self._groups:
            if coordinator not in self._coordinated:
                coordinated = self._coordinated[coordinator] = _Coordinated()
                coordinator.offsets.on_stored = coordinated.steps.note

    def cease(self) -> None:
        """Stop reporting on groups."""
        for coordinator in self._coordinated:
            coordinator.offsets.on_stored = None
        self._coordinated.clear()

    async def increments(self) -> list[Increment]:
        """Return the increments to report: first those that did not arrive, under their ids.

        Raises TimeoutError while ZooKeeper is away.
        """
        followed = [self._coordinated[group] for group, _ in self._groups.settled() if group in self._coordinated]
        await self._learn({topic for log in followed for topic in log.steps.topics()})
        for coordinator, term in self._groups.settled():
            coordinated = self._coordinated.get(coordinator)
            if coordinated is not None and not coordinated.unsent:
                coordinated.forget_all_but(coordinator.groups)
                coordinated.unsent = [
                    increment
                    for taken in coordinated.steps.take(_AT_ONCE)
                    for increment in self._told_of(coordinated, *taken, term)
                ]
        return [increment for item in followed for increment in item.unsent]

    def arrived(self, increments: Collection[Increment]) -> None:
        """Forget increments that have arrived."""
        arrived = {id(item) for item in increments}
        for coordinated in self._coordinated.values():
            coordinated.unsent = [item for item in coordinated.unsent if id(item) not in arrived]

    def _told_of(self, coordinated: _Coordinated, key: GroupPartition, steps: Steps, term: int) -> Iterator[Increment]:
        group, partition = key
        if group == POSITIONS_GROUP or not self._settings.get(partition.topic, (False, 0))[0]:
            return
        reporter = coordinated.reporters.get(group)
        if reporter is None:
            reporter = coordinated.reporters[group] = SourceReporter(AuditTier.COMMITTED, group, uuid.uuid4().hex)
        now_ms = self._clock.now_ms()
        for start, end in steps:
            yield reporter.tell(partition, {}, now_ms, offsets=(start, end), term=term)

    async def _learn(self, topics: set[str]) -> None:
        """Note which of these topics are counted."""
        now_ms = self._clock.monotonic_ms()
        self._settings = {name: known for name, known in self._settings.items() if known[1] > now_ms}
        async with asyncio.timeout(_SETTINGS_WITHIN_S):
            configs = await self._topic_configs.log_configs(topics - self._settings.keys())
        until_ms = now_ms + _SETTINGS_KNOWN_MS
        self._settings |= {name: (is_counted(name, config), until_ms) for name, config in configs.items()}
