"""What the controller decided about leaders that an operator should know: log lines, and figures for metrics."""

from collections.abc import Collection, Mapping

from broker.common.logs import logger
from broker.common.types import TopicPartition
from broker.controller.effects import (
    TellEligibleElections,
    TellRestorations,
    TellUncleanElections,
    UncleanElection,
)

_log = logger(__name__)

#: Of the partitions that begin to wait at once, those that are named in the line.
_NAMED_MAX = 5


class ElectionLog:
    """Kept by each broker, written while it is controller."""

    def __init__(self) -> None:
        #: Since this broker was started; Kafka's UncleanLeaderElectionsPerSec counts them.
        self.unclean_elections = 0
        #: Leaders from the ELR; Kafka's ElectionFromEligibleLeaderReplicasPerSec counts them.
        self.eligible_elections = 0
        #: Without a leader until the logs of all their replicas are known.
        self.awaiting_logs: set[TopicPartition] = set()

    def begin(self) -> None:
        """Begin or end a term as controller: what waits is announced again."""
        self.awaiting_logs.clear()

    def note(self, decided: TellUncleanElections | TellEligibleElections | TellRestorations) -> None:
        match decided:
            case TellUncleanElections(elections):
                self.note_unclean(elections)
            case TellEligibleElections(partitions):
                self.eligible_elections += len(partitions)
            case TellRestorations(waiting, led):
                self.note_restorations(waiting, led)

    def note_unclean(self, elections: Collection[UncleanElection]) -> None:
        self.unclean_elections += len(elections)
        for election in elections:
            _log.warning(
                "unclean election: records that only the replicas in sync before had are given up",
                partition=str(election.partition),
                leader=election.leader,
                leader_before=election.leader_before,
                in_sync_before=",".join(map(str, election.in_sync_before)),
            )

    def note_restorations(self, waiting: Collection[TopicPartition], led: Mapping[TopicPartition, int]) -> None:
        """Note restorations. `waiting`: partitions that begin to wait for logs; `led`: the leaders of those that have
        waited.
        """
        self.awaiting_logs.update(waiting)
        self.awaiting_logs.difference_update(led)
        if waiting:
            named = sorted(waiting)[:_NAMED_MAX]
            _log.warning(
                "partition states were removed from ZooKeeper: no leader until a broker tells which replicas were in "
                "sync, or the logs of all replicas are known. Start the brokers that are away, or allow an unclean "
                "election",
                partitions=len(waiting),
                first=", ".join(map(str, named)),
            )
        for partition, leader in sorted(led.items()):
            _log.warning("partition has a leader again", partition=str(partition), leader=leader)

    def forget_topics(self, names: Collection[str]) -> None:
        """Drop the partitions of topics that are not watched any more."""
        self.awaiting_logs = {partition for partition in self.awaiting_logs if partition.topic not in names}
