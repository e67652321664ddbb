"""Goes round: what was counted is told to the audit topic, and where the count has got to is kept; logs are walked
beside that. Clients wait for none of it, nor does a stop: whoever leads next counts what was not told.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice

from broker.audit.increment import Increment
from broker.common.clock import Clock
from broker.common.errors import BarnabasError
from broker.common.logs import logger
from broker.common.troubles import Troubles
from broker.config.broker import BrokerConfig
from broker.runtime.audit.append_audit import AppendAudit
from broker.runtime.audit.audit_topic import AuditTopic
from broker.runtime.audit.group_audit import GroupAudit
from broker.runtime.audit.peers import Peers
from broker.runtime.periodic import rounds

#: Increments that are made before others have their turn.
_AT_ONCE = 100
#: Partitions of which one round tells; with twice as many, rounds are half as often.
_PARTITIONS_PER_ROUND = 1_000
#: Between two looks whether a log has to be walked.
_LOOK_S = 0.5

_log = logger(__name__)


class Auditor:
    """Audits from `start` to `stop`."""

    def __init__(
        self,
        peers: Peers,
        topic: AuditTopic,
        appends: AppendAudit,
        groups: GroupAudit,
        config: BrokerConfig,
        clock: Clock,
    ):
        self._peers = peers
        self._topic = topic
        self.appends = appends
        self._groups = groups
        self._config = config
        self._clock = clock
        self._troubles = Troubles()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(rounds(self._send_in_rounds)), asyncio.create_task(rounds(self._walk))]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._peers.close()

    async def _send_in_rounds(self) -> None:
        rounds_ = max(1.0, len(self.appends) / _PARTITIONS_PER_ROUND)
        await asyncio.sleep(self._config.barnabas_audit_interval_ms / 1000 * rounds_)
        if self._config.barnabas_audit_enable or self.appends.is_asked_for:
            self._groups.follow()
            await self._unless("groups", self._send_groups)
        else:
            self._groups.cease()
        if self.appends:
            await self._unless("places", self.appends.place)
            for some in _by(_AT_ONCE, self.appends.increments()):
                self.appends.arrived(await self._topic.tell(some, self._clock.now_ms()))
                await asyncio.sleep(0)
            await self._unless("positions", self.appends.commit)
            self.appends.seal()

    async def _send_groups(self) -> None:
        for some in _by(_AT_ONCE, iter(await self._groups.increments())):
            self._groups.arrived(await self._topic.tell(some, self._clock.now_ms()))
            await asyncio.sleep(0)

    async def _unless(self, what: str, work: Callable[[], Awaitable[object]]) -> None:
        """Do the work; a failure is logged and the work is tried again in a later round."""
        try:
            await work()
        except (BarnabasError, TimeoutError) as error:
            if self._troubles.is_news(what, str(error), self._clock.monotonic_ms()):
                _log.info("the audit waits", of=what, reason=str(error))
        else:
            self._troubles.is_over(what)

    async def _walk(self) -> None:
        await self.appends.is_at_work.wait()
        if not await self.appends.walk_some():
            await asyncio.sleep(_LOOK_S)


def _by(count: int, increments: Iterator[Increment]) -> Iterator[list[Increment]]:
    while some := list(islice(increments, count)):
        yield some
