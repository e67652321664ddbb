"""Unclean elections: a replica leads that was not in sync, and what only the others had is given up. Pure.

No client API says so of an election, so it is worked out from what every Kafka tells: who leads, who is in sync, the
leader's epoch and where the log ends for a reader (all before it is acknowledged by acks=all). ZooKeeper knows it for
certain as long as the leader is alone (`leader_recovery_state`, KIP-704); KRaft tells nobody. What cannot be known: a
replica that left the ISR and was elected between two looks counts as in sync, and so does who was elected while nobody
looked, unless the log went back; records that only acks=1 promised lie behind that end, and are not counted.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from console.state.clusters.topic_rows import PartitionRow, TopicChanges, TopicRow
from console.state.history.differences import PARTITIONS_TOLD_MAX, HistoryEvent

#: Partitions of one look that ZooKeeper is asked about; of the others it stays a possibility.
ASKED_MAX = 100


class Sign(Enum):
    """What says that an election was unclean."""

    #: Readers had been told of records that the leader of a newer epoch does not have.
    WENT_BACK = auto()
    #: ZooKeeper says that the leader was elected out of sync.
    RECOVERING = auto()
    #: The leader was not in sync at the look before it led, nor is anybody in sync who was: it may have come in sync
    #: in between, or the broker that was asked knew no better.
    WAS_OUT = auto()


@dataclass(frozen=True, slots=True)
class LostRange:
    """`ended_at` and `ends_at`: where the log ended for readers under the leader before, and ends now; None unknown."""

    topic: str
    partition: int
    sign: Sign
    leader: int
    leader_before: int | None
    ended_at: int | None
    ends_at: int | None

    @property
    def is_certain(self) -> bool:
        return self.sign is not Sign.WAS_OUT

    @property
    def lost(self) -> int | None:
        """Acknowledged records that are gone, at the least; None: not known, and it may be none."""
        if self.sign is not Sign.WENT_BACK or self.ended_at is None or self.ends_at is None:
            return None
        return self.ended_at - self.ends_at


@dataclass(frozen=True, slots=True)
class _PendingElection:
    """A partition as it was under the last leader whose epoch is known, and whether one since then was out of sync."""

    row: PartitionRow
    was_out: bool = False


class UncleanWatch:
    """Watches every look for unclean elections: it remembers partitions without a leader, or with one that has not
    answered.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, int], _PendingElection] = {}

    def look(
        self,
        known: Mapping[str, TopicRow],
        changes: TopicChanges,
        *,
        is_next_look: bool,
        is_recovering: Callable[[str, int], bool],
    ) -> list[LostRange]:
        """Return the elections that `changes` of `known` show. `is_next_look`: no look was missed since the last one.

        `is_recovering` is asked only of a partition whose leader was not in sync when last seen.
        """
        for name in changes.deleted:
            self._waiting = {place: item for place, item in self._waiting.items() if place[0] != name}
        judgements = []
        for topic, partitions in changes.changed:
            rows = {partition.partition: partition for partition in known[topic.name].partitions}
            for after in partitions:
                before = rows.get(after.partition)
                if before is not None and (judged := self._judge(topic.name, before, after, is_next_look)):
                    judgements.append(judged)
        return _with_certainty(judgements, is_recovering)

    def _judge(self, topic: str, before: PartitionRow, after: PartitionRow, is_next_look: bool) -> LostRange | None:
        place = topic, after.partition
        if place not in self._waiting and (before.leader, before.leader_epoch) == (after.leader, after.leader_epoch):
            return None
        then = self._waiting.pop(place, None) or _PendingElection(before)
        if is_next_look and _was_out(before, after):
            then = replace(then, was_out=True)
        if after.leader is None or not _is_newer(then.row, after):
            if after.leader != then.row.leader:
                self._waiting[place] = then
            return None
        ended_at, ends_at = then.row.next_offset, after.next_offset
        went_back = ended_at is not None and ends_at is not None and ends_at < ended_at
        if not went_back and not then.was_out:
            return None
        sign = Sign.WENT_BACK if went_back else Sign.WAS_OUT
        return LostRange(topic, after.partition, sign, after.leader, then.row.leader, ended_at, ends_at)


def _is_newer(before: PartitionRow, after: PartitionRow) -> bool:
    """Return whether the leadership changed: by the epoch, or by the leader where brokers tell no epochs (before Kafka
    2.1).
    """
    if before.leader_epoch is None or after.leader_epoch is None:
        return before.leader != after.leader
    return after.leader_epoch > before.leader_epoch


def _was_out(before: PartitionRow, after: PartitionRow) -> bool:
    """Return whether the new leader was out of sync, by two looks one after the other: none of the former ISR is in
    sync now.

    Where none of them is a replica any more a move has ended, and moves end when those they bring are in sync.
    """
    is_another = after.leader is not None and after.leader != before.leader
    has_left = not set(before.isr) & {*after.isr, after.leader}
    return is_another and has_left and bool(set(before.isr) & set(after.replicas))


def _with_certainty(lost_ranges: Iterable[LostRange], is_recovering: Callable[[str, int], bool]) -> list[LostRange]:
    """Return the lost ranges; ZooKeeper confirms possible ones."""
    judged, queries = [], 0
    for election in lost_ranges:
        if not election.is_certain and queries < ASKED_MAX:
            queries += 1
            if is_recovering(election.topic, election.partition):
                election = replace(election, sign=Sign.RECOVERING)
        judged.append(election)
    return judged


def unclean_events(elections: Iterable[LostRange]) -> list[HistoryEvent]:
    """Return events of unclean elections; many of one topic are one event."""
    by_topic: dict[str, list[LostRange]] = defaultdict(list)
    for election in elections:
        by_topic[election.topic].append(election)
    events = []
    for topic, ranges in by_topic.items():
        if len(ranges) <= PARTITIONS_TOLD_MAX:
            events += [_event(topic, [partition], sentence_of(partition), partition.partition) for partition in ranges]
        else:
            worst = max(ranges, key=lambda election: (election.is_certain, election.lost or 0))
            sentence = f"{topic}: {len(ranges)} partitions, such as {sentence_of(worst)}"
            events.append(_event(topic, ranges, sentence, None))
    return events


def _event(topic: str, lost_ranges: Iterable[LostRange], sentence: str, partition: int | None) -> HistoryEvent:
    tone = "critical" if any(election.is_certain for election in lost_ranges) else "warning"
    return HistoryEvent("unclean", topic, sentence, tone, partition)


def sentence_of(election: LostRange) -> str:
    name = f"{election.topic}-{election.partition}"
    now = f"broker {election.leader} leads"
    previously = f"previously broker {election.leader_before}" if election.leader_before is not None else ""
    if election.sign is Sign.WENT_BACK:
        text = f"unclean election: {_joined(now, previously)}, and its log ends earlier"
    elif election.is_certain:
        text = f"unclean election: {_joined(f'{now} and was not in sync', previously)}"
    else:
        text = f"possibly an unclean election: {_joined(f'{now} and was not in sync at the look before', previously)}"
    return f"{name}: {text}. {_cost(election)}"


def _joined(now: str, previously: str) -> str:
    return f"{now}, {previously}" if previously else now


def _cost(election: LostRange) -> str:
    if election.lost is not None:
        ends = f"readers saw it end at {election.ended_at:,}, now it ends at {election.ends_at:,}"
        return f"At least {_records(election.lost)} lost: {ends}"
    if election.ended_at is None:
        return "Records acknowledged but not replicated may be lost; where the log ended before is not known"
    now = "" if election.ends_at is None else f", now it ends at {election.ends_at:,}"
    return (
        "Records acknowledged but not replicated may be lost: the log was last seen to end at "
        f"{election.ended_at:,}{now}"
    )


def _records(count: int) -> str:
    return "1 acknowledged record is" if count == 1 else f"{count:,} acknowledged records are"
