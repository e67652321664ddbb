"""Looks at the groups of the source, and says where they go on in the target: as checkpoints, as commits if asked."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from broker.client.cluster import Cluster
from broker.client.groups import Groups
from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.mirror.groups import Checkpoint, Ways, checkpoints, to_commit, ways_there, written
from broker.mirror.ledger import Ledger
from broker.mirror.naming import Chosen, Naming

if TYPE_CHECKING:
    from confluent_kafka import Producer

_log = logger("broker.mirror")
#: States of a group in which nobody commits.
EMPTY = ("Empty", "Dead")


class CheckpointKeeper:
    """On one thread, over connections that it keeps until `close`."""

    def __init__(
        self,
        source: Callable[[], Cluster],
        target: Callable[[], Cluster],
        producer: "Producer",
        naming: Naming,
        flow: str,
        groups: Chosen,
        *,
        commits: bool,
    ):
        self._source, self._target = source(), target()
        self._ledger = Ledger(self._target)
        self._producer, self._naming, self._flow = producer, naming, flow
        self._chosen, self._commits = groups, commits
        self._said: dict[tuple[str, TopicPartition], Checkpoint] = {}

    def close(self) -> None:
        self._source.close()
        self._target.close()

    def look(self) -> None:
        """Raises ApiError, BrokerUnreachable, LedgerUnread."""
        # Offsets before the ledger: what is committed in between has been copied before the ledger says so, or not.
        there, here = Groups(self._source), Groups(self._target)
        committed = {
            group.group_id: there.committed(group.group_id)
            for group in there.listed()
            if group.group_id in self._chosen
        }
        self._ledger.read_to_end()
        ways = ways_there(self._ledger, self._flow)
        for group, offsets in committed.items():
            self._follow(group, offsets, ways, here)
        self._producer.flush(30)

    def _follow(self, group: str, offsets: dict[TopicPartition, int], ways: Ways, here: Groups) -> None:
        found = checkpoints(group, offsets, ways)
        for each in found:
            before = self._said.get((group, each.partition))
            if before is None or each.offset > before.offset or each.upstream < before.upstream:
                key, value = written(each)
                self._producer.produce(self._naming.checkpoints, value, key)
                self._said[group, each.partition] = each
        if self._commits and found:
            self._commit(group, found, here)

    def _commit(self, group: str, found: list[Checkpoint], here: Groups) -> None:
        try:
            if here.described(group).state not in EMPTY:
                return
            if further := to_commit(found, here.committed(group)):
                here.commit(group, further)
        except ApiError as error:
            # Somebody joined meanwhile, or it is none of consumers: then it is not ours to commit for.
            if error.code not in (
                ErrorCode.UNKNOWN_MEMBER_ID,
                ErrorCode.REBALANCE_IN_PROGRESS,
                ErrorCode.ILLEGAL_GENERATION,
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            ):
                raise
            _log.info("group not followed", group=group, reason=str(error))
