"""Unclean elections: a replica leads that was not in sync, and what only the others had is given up. Pure.

No client API says so of an election, so it is worked out from what every Kafka tells: who leads, who is in sync, the
leader's epoch and where the log ends for a reader (all before it is acknowledged by acks=all). What cannot be known: a
replica that left the ISR and was elected between two looks counts as in sync, unless the log went back; records that
only acks=1 promised lie behind that end, and are not counted; and who was elected while nobody looked is only known by
a log that went back, or by ZooKeeper (`leader_recovery_state`, KIP-704), which KRaft does not have.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from console.history.differences import PARTITIONS_TOLD_MAX, Event
from console.live.rows import PartitionRow, TopicChanges, TopicRow

#: Partitions of one look that ZooKeeper is asked about; of the others it stays a possibility.
ASKED_MAX = 100


class Sign(Enum):
    """What says that an election was unclean."""

    #: Readers had been told of records that the leader of a newer epoch does not have.
    WENT_BACK = auto()
    #: ZooKeeper says that the leader was elected out of sync.
    RECOVERING = auto()
    #: Nobody led, and the new leader was not in the ISR, which nobody can change meanwhile.
    NOBODY_LED = auto()
    #: At the look before it was not in sync, nor is anybody in sync who was: it may have come in sync in between.
    WAS_OUT = auto()


@dataclass(frozen=True, slots=True)
class UncleanElection:
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
        return self.ended_at - self.ends_at if self.sign is Sign.WENT_BACK else None


@dataclass(frozen=True, slots=True)
class _Before:
    """A partition as it was when it last had a leader; `isr` is newer where it had none since."""

    row: PartitionRow
    isr: tuple[int, ...]
    was_leaderless: bool


class UncleanWatch:
    """Told of every look. What it remembers are partitions without a leader, or whose new leader has not answered."""

    def __init__(self):
        self._waiting: dict[tuple[str, int], _Before] = {}

    def look(
        self,
        known: Mapping[str, TopicRow],
        changes: TopicChanges,
        *,
        is_next_look: bool,
        is_recovering: Callable[[str, int], bool],
    ) -> list[UncleanElection]:
        """The elections that `changes` of `known` show. `is_next_look`: nothing long can have happened since the last.

        `is_recovering` is asked only of a partition whose leader was not in sync when last seen.
        """
        for name in changes.deleted:
            self._waiting = {place: each for place, each in self._waiting.items() if place[0] != name}
        found = []
        for topic, partitions in changes.changed:
            rows = {each.partition: each for each in known[topic.name].partitions}
            for after in partitions:
                before = rows.get(after.partition)
                if before is not None and (judged := self._judge(topic.name, before, after, is_next_look)):
                    found.append(judged)
        return _asked(found, is_next_look, is_recovering)

    def _judge(
        self, topic: str, before: PartitionRow, after: PartitionRow, is_next_look: bool
    ) -> UncleanElection | None:
        place = topic, after.partition
        if place not in self._waiting and (before.leader, before.leader_epoch) == (after.leader, after.leader_epoch):
            return None
        then = self._waiting.pop(place, None) or _Before(before, before.isr, before.leader is None)
        if before.leader is None:
            then = replace(then, isr=before.isr, was_leaderless=True)
        if after.leader is None or not _is_newer(then.row, after):
            if after.leader != then.row.leader:
                self._waiting[place] = then
            return None
        sign = _sign(then, after, is_next_look)
        if sign is None:
            return None
        ends = then.row.next_offset, after.next_offset
        return UncleanElection(topic, after.partition, sign, after.leader, then.row.leader, *ends)


def _is_newer(before: PartitionRow, after: PartitionRow) -> bool:
    """Under another leadership: by the epoch, or by the leader where brokers tell no epochs (before Kafka 2.1)."""
    if before.leader_epoch is None or after.leader_epoch is None:
        return before.leader != after.leader
    return after.leader_epoch > before.leader_epoch


def _sign(before: _Before, after: PartitionRow, is_next_look: bool) -> Sign | None:
    ended_at, ends_at = before.row.next_offset, after.next_offset
    if ended_at is not None and ends_at is not None and ends_at < ended_at:
        return Sign.WENT_BACK
    if not before.isr or after.leader in before.isr:
        return None
    if before.was_leaderless and is_next_look:
        return Sign.NOBODY_LED
    return None if set(before.isr) & set(after.isr) else Sign.WAS_OUT


def _asked(
    found: Iterable[UncleanElection], is_next_look: bool, is_recovering: Callable[[str, int], bool]
) -> list[UncleanElection]:
    """With what ZooKeeper says of those that are only possible; after a long time they are nothing without that."""
    told, asked = [], 0
    for each in found:
        if each.sign is Sign.WAS_OUT and asked < ASKED_MAX:
            asked += 1
            if is_recovering(each.topic, each.partition):
                each = replace(each, sign=Sign.RECOVERING)
        if each.is_certain or is_next_look:
            told.append(each)
    return told


def unclean_events(elections: Iterable[UncleanElection]) -> list[Event]:
    """Many of one topic are one event."""
    by_topic: dict[str, list[UncleanElection]] = defaultdict(list)
    for each in elections:
        by_topic[each.topic].append(each)
    events = []
    for topic, found in by_topic.items():
        if len(found) <= PARTITIONS_TOLD_MAX:
            events += [_event(topic, [each], sentence_of(each), each.partition) for each in found]
        else:
            worst = max(found, key=lambda each: (each.is_certain, each.lost or 0))
            sentence = f"{topic}: {len(found)} partitions, such as {sentence_of(worst)}"
            events.append(_event(topic, found, sentence, None))
    return events


def _event(topic: str, found: Iterable[UncleanElection], sentence: str, partition: int | None) -> Event:
    tone = "critical" if any(each.is_certain for each in found) else "warning"
    return Event("unclean", topic, sentence, tone, partition)


def sentence_of(election: UncleanElection) -> str:
    name = f"{election.topic}-{election.partition}"
    now = f"broker {election.leader} leads"
    previously = f"previously broker {election.leader_before}" if election.leader_before is not None else ""
    if election.sign is Sign.WENT_BACK:
        told = f"unclean election: {_joined(now, previously)}, and its log ends earlier"
    elif election.is_certain:
        told = f"unclean election: {_joined(f'{now} and was not in sync', previously)}"
    else:
        told = f"possibly an unclean election: {_joined(f'{now} and was not in sync at the look before', previously)}"
    return f"{name}: {told}. {_cost(election)}"


def _joined(now: str, previously: str) -> str:
    return f"{now}, {previously}" if previously else now


def _cost(election: UncleanElection) -> str:
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
