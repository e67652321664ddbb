"""Looks at the groups of the source, and says where they go on in the target: as checkpoints, as commits if asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from broker.client.cluster import ClusterConnections
from broker.client.groups import GroupClient
from broker.common.errors import ApiError
from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.mirror.groups import GroupCheckpoint, Ways, checkpoints, to_commit, ways_there, written
from broker.mirror.ledger import MirrorLedger
from broker.mirror.naming import NameFilter, TopicNaming

if TYPE_CHECKING:
    from confluent_kafka import Producer

_log = logger("broker.mirror")
#: States of a group in which nobody commits.
EMPTY = ("Empty", "Dead")


class CheckpointKeeper:
    """Used by one thread, over connections that it keeps until `close`."""

    def __init__(
        self,
        source: Callable[[], ClusterConnections],
        target: Callable[[], ClusterConnections],
        producer: "Producer",
        naming: TopicNaming,
        flow: str,
        groups: NameFilter,
        *,
        commits: bool,
    ):
        self._source, self._target = source(), target()
        self._ledger = MirrorLedger(self._target)
        self._producer, self._naming, self._flow = producer, naming, flow
        self._chosen, self._commits = groups, commits
        self._written: dict[tuple[str, TopicPartition], GroupCheckpoint] = {}
        self._refused: dict[str, str] = {}

    def close(self) -> None:
        self._source.close()
        self._target.close()

    def look(self) -> None:
        """Raises ApiError, BrokerUnreachable, LedgerUnread."""
        # Offsets before the ledger: what is committed in between has been copied before the ledger says so, or not.
        there, here = GroupClient(self._source), GroupClient(self._target)
        committed = {}
        for listed in there.listed():
            if listed.group_id in self._chosen:
                with self._alone(listed.group_id):
                    committed[listed.group_id] = there.committed(listed.group_id)
        self._ledger.read_to_end()
        ways = ways_there(self._ledger, self._flow)
        for group, offsets in committed.items():
            with self._alone(group):
                self._follow(group, offsets, ways, here)
        self._producer.flush(30)

    @contextmanager
    def _alone(self, group: str) -> Iterator[None]:
        """Keep one group's refusal from holding up the others: it has a member now, is no consumer group, or its copy
        was deleted.
        """
        try:
            yield
        except ApiError as error:
            if self._refused.get(group) != str(error):
                _log.warning("group not followed", group=group, reason=str(error))
            self._refused[group] = str(error)
        else:
            self._refused.pop(group, None)

    def _follow(self, group: str, offsets: dict[TopicPartition, int], ways: Ways, here: GroupClient) -> None:
        group_checkpoints = checkpoints(group, offsets, ways)
        for checkpoint in group_checkpoints:
            before = self._written.get((group, checkpoint.partition))
            if before is None or checkpoint.offset > before.offset or checkpoint.upstream < before.upstream:
                key, value = written(checkpoint)
                self._producer.produce(self._naming.checkpoints, value, key)
                self._written[group, checkpoint.partition] = checkpoint
        if self._commits and group_checkpoints:
            self._commit(group, group_checkpoints, here)

    def _commit(self, group: str, checkpoints: list[GroupCheckpoint], here: GroupClient) -> None:
        if here.described(group).state not in EMPTY:
            return
        if further := to_commit(checkpoints, here.committed(group)):
            here.commit(group, further)
