"""Groups as last seen; what a list sorts by is stored, so that it sorts in the database."""

from django.db import models

from console.kit.common.clock import now_ms
from console.kit.gateway.groups.interface import CLASSIC, SHARE, UNDERSTOOD_TYPES, UNKNOWN_STATE
from console.state.client_applications.models import ClientLook, ClientTraffic
from console.state.consumers.losses import EPISODE_MS, LOSING_MS
from console.state.consumers.members import MemberRow, member_of
from console.state.consumers.rows import GROUP_NAME_LENGTH_MAX, MEMBER_ID_LENGTH_MAX
from console.state.consumers.trend import Trend, catch_up_seconds, trend_of
from console.state.consumers.verdict import LagVerdict
from console.state.consumers.why_behind import ReadingPace, why_behind

#: A member that was sent records within this time reads.
FETCHED_LATELY_MS = 60_000


class ConsumerGroup(models.Model):
    name = models.CharField(max_length=GROUP_NAME_LENGTH_MAX, unique=True)
    state = models.CharField(max_length=40)
    protocol_type = models.CharField(max_length=100, blank=True)
    coordinator = models.IntegerField()
    #: As Kafka writes it: classic, consumer, share, streams, or one that is younger.
    group_type = models.CharField(max_length=40, default=CLASSIC)
    #: None: the group cannot be described.
    member_count = models.IntegerField(default=0, null=True)
    #: The values of a `MemberRow` each.
    members = models.JSONField(default=list)
    topics = models.JSONField(default=list)
    partition_count = models.IntegerField(default=0)
    #: Records not read; None: not known.
    lag = models.BigIntegerField(null=True)
    #: When the oldest of them was appended.
    behind_since_ms = models.BigIntegerField(null=True)
    #: When retention may delete it, at the earliest.
    expires_at_ms = models.BigIntegerField(null=True)
    lag_per_second = models.FloatField(null=True)
    arriving_per_second = models.FloatField(null=True)
    #: Records read per second over the last minutes, by commits; None: not known yet.
    read_per_second = models.FloatField(null=True)
    #: Records that were deleted before it read them, of one episode, which began and grew last at these moments.
    lost = models.BigIntegerField(default=0)
    lost_since_ms = models.BigIntegerField(null=True)
    lost_at_ms = models.BigIntegerField(null=True)
    verdict = models.CharField(max_length=20)
    #: Since when the verdict is this one, and since when it has no members; None: since before the first look.
    verdict_since_ms = models.BigIntegerField(null=True)
    empty_since_ms = models.BigIntegerField(null=True)
    #: Verdict.severity, to sort by.
    severity = models.IntegerField(default=0)
    is_silent = models.BooleanField(default=False)
    #: What only some types have: epochs, assignor, topology; see `GroupDetails`.
    details = models.JSONField(default=dict)

    #: Set by `with_topics_within`, and no columns.
    reads_beyond: bool
    may_change: bool

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def judgement(self) -> LagVerdict:
        return LagVerdict(self.verdict)

    @property
    def is_understood(self) -> bool:
        """Whether members and offsets are known, so that a change of them can be planned."""
        return self.state != UNKNOWN_STATE and self.group_type in UNDERSTOOD_TYPES

    @property
    def is_share(self) -> bool:
        return self.group_type == SHARE

    @property
    def member_rows(self) -> list[MemberRow]:
        return [member_of(member) for member in self.members]

    @property
    def behind_ms(self) -> int | None:
        """How long the oldest unread record has waited."""
        return None if self.behind_since_ms is None else max(0, now_ms() - self.behind_since_ms)

    @property
    def expires_in_ms(self) -> int | None:
        return None if self.expires_at_ms is None else max(0, self.expires_at_ms - now_ms())

    @property
    def is_expiring(self) -> bool:
        """Less than a tenth of the time the oldest unread record had is left, or than an hour."""
        if self.expires_in_ms is None or self.behind_ms is None:
            return False
        return self.expires_in_ms < max(3_600_000, self.behind_ms // 9) and self.expires_in_ms < self.behind_ms

    @property
    def is_losing(self) -> bool:
        """Whether records are lost now: within the last minutes, or its position is deleted. Not for ever of a group
        that has had no members for a day."""
        if not self.lost or self.lost_at_ms is None:
            return False
        at_ms = now_ms()
        is_left = self.empty_since_ms is not None and at_ms - self.empty_since_ms > EPISODE_MS
        return not is_left and (self.judgement is LagVerdict.LOST or at_ms - self.lost_at_ms < LOSING_MS)

    @property
    def never_catches_up(self) -> bool:
        """Whether the lag never shrinks at this pace; False without a lag."""
        return self.judgement.is_bad and self.trend.is_hopeless

    @property
    def trend(self) -> Trend:
        return trend_of(self.lag, self.lag_per_second, self.arriving_per_second)

    @property
    def why_behind(self) -> str:
        """One sentence with numbers; empty where it is not behind, or its rates are not known."""
        stuck = self._stuck()
        return why_behind(
            ReadingPace(
                self.lag,
                self.member_count,
                self.partition_count,
                self.arriving_per_second,
                self.lag_per_second,
                self.read_per_second,
                len(stuck),
                stuck[0] if len(stuck) == 1 else "",
                None if self.empty_since_ms is None else max(0, now_ms() - self.empty_since_ms),
                None if self.read_per_second or not self.lag else self._fetched_per_second(),
                self.judgement is LagVerdict.LOST,
            )
        )

    def _fetched_per_second(self) -> float | None:
        """Return what brokers sent its members of its topics in the last minute; None: brokers do not tell."""
        if not ClientLook.objects.filter(is_told=True).exists():
            return None
        clients = {member.client_id for member in self.member_rows}
        traffic = ClientTraffic.objects.filter(is_produce=False, topic__in=self.topics, client_id__in=clients)
        lately = traffic.filter(used_at_ms__gte=now_ms() - FETCHED_LATELY_MS)
        return lately.aggregate(sum=models.Sum("records_per_second"))["sum"] or 0.0

    def _stuck(self) -> list[str]:
        """Return the partitions that hold unread records and are not read: nothing was committed, or nothing more."""
        if self.judgement not in (LagVerdict.STALLED, LagVerdict.STOPPED, LagVerdict.NO_COMMIT) or not self.pk:
            return []
        is_unread = models.Q(read_per_second=0) | models.Q(committed=None)
        places = self.partitions.filter(is_unread, lag__gt=0).values_list("topic", "partition")
        return [f"{topic}-{number}" for topic, number in places]

    @property
    def catch_up_ms(self) -> int | None:
        """The time to catch up; None: never at this pace, or unknown."""
        seconds = catch_up_seconds(self.lag, self.lag_per_second, self.arriving_per_second)
        return None if seconds is None else round(seconds * 1_000)


class GroupPartition(models.Model):
    """A group in one partition."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="partitions")
    topic = models.CharField(max_length=249, db_index=True)
    partition = models.IntegerField()
    committed = models.BigIntegerField(null=True)
    first_offset = models.BigIntegerField(null=True)
    next_offset = models.BigIntegerField(null=True)
    lag = models.BigIntegerField(null=True)
    behind_since_ms = models.BigIntegerField(null=True)
    expires_at_ms = models.BigIntegerField(null=True)
    lost = models.BigIntegerField(default=0)
    lost_since_ms = models.BigIntegerField(null=True)
    lost_at_ms = models.BigIntegerField(null=True)
    #: Offsets before this one are counted in `lost`.
    lost_until = models.BigIntegerField(default=0)
    read_per_second = models.FloatField(null=True)
    verdict = models.CharField(max_length=20)
    member_id = models.CharField(max_length=MEMBER_ID_LENGTH_MAX, blank=True)

    class Meta:
        ordering = ["topic", "partition"]
        constraints = [models.UniqueConstraint(fields=["group", "topic", "partition"], name="partition_of_group")]

    def __str__(self) -> str:
        return f"{self.group.name} in {self.topic}-{self.partition}"

    @property
    def judgement(self) -> LagVerdict:
        return LagVerdict(self.verdict)

    @property
    def behind_ms(self) -> int | None:
        return None if self.behind_since_ms is None else max(0, now_ms() - self.behind_since_ms)

    @property
    def client(self) -> str:
        """The member that holds it, short: ids end in a long random part."""
        return self.member_id if len(self.member_id) <= 24 else f"{self.member_id[:23]}…"


class LagSample(models.Model):
    """A group's lag at a moment, None: not known; written when it changed, kept for hours, not for ever."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="samples")
    at_ms = models.BigIntegerField(db_index=True)
    lag = models.BigIntegerField(null=True)
    #: How long the oldest unread record had waited; None: nobody knew.
    behind_ms = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["at_ms"]
        indexes = [models.Index(fields=["group", "at_ms"], name="lag_of_group")]

    def __str__(self) -> str:
        return f"{self.group_id} at {self.at_ms}: {self.lag}"
