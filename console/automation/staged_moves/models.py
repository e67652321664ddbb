"""A move that goes in batches: what it was planned from, what it shall come to, and how far it is."""

from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from console.kit.live import groups
from console.kit.operations.models import OPEN, Operation
from console.kit.plans.plan import Plan

#: Those that are over and still shown; who did what stays in the audit.
ENDED_SHOWN = 3
ENDED_KEPT = 50


class StagedMove(Operation):
    """`former` and `wanted` are topic → partition → replicas, as of a Reassignment; each batch is one."""

    TEMPLATE = "staged_moves/partials/list.html"
    in_every_cluster = True
    group = staticmethod(groups.staged_moves)

    #: The audit's words for what it does.
    action = models.CharField(max_length=100)
    object_type = models.CharField(max_length=20)
    object_name = models.CharField(max_length=255)
    former = models.JSONField()
    wanted = models.JSONField()
    #: topic → its id when it was planned, where the cluster gives them one.
    topic_ids = models.JSONField(default=dict)
    partition_count = models.IntegerField()
    #: Partitions that have not arrived, as of the last batch.
    left = models.IntegerField()
    batch_size = models.IntegerField()
    #: Batches that were begun.
    batches = models.IntegerField(default=0)
    #: Bytes per second on each broker; None: no throttle.
    rate = models.BigIntegerField(null=True)
    #: None: at once.
    begins_at = models.DateTimeField(null=True)

    class Meta(Operation.Meta):
        verbose_name = "staged move"

    @classmethod
    def to_advance(cls) -> models.QuerySet[Any]:
        """Return the moves to advance, without paused and scheduled ones, so that the collector can stay idle."""
        has_come = models.Q(begins_at=None) | models.Q(begins_at__lte=Now())
        return cls.objects.filter(has_come, state=cls.State.RUNNING).order_by("id")

    @property
    def audited(self) -> tuple[str, str]:
        return self.object_type, self.object_name

    @property
    def resumed(self) -> tuple[Plan, ...]:
        return (Plan(self.action, *self.audited, (), (), losses=(), safe_because="", about=tuple(self.topics)),)

    @property
    def shown(self) -> dict[str, object]:
        return {"staged_moves": shown_moves()}

    @property
    def is_scheduled(self) -> bool:
        """Whether the move has not begun and is scheduled for later."""
        return self.is_open and not self.batches and self.begins_at is not None and self.begins_at > timezone.now()

    @property
    def word(self) -> str:
        return "scheduled" if self.state == self.State.RUNNING and self.is_scheduled else super().word

    @property
    def arrived(self) -> int:
        return max(0, self.partition_count - self.left)

    @property
    def percent(self) -> int:
        return 100 * self.arrived // self.partition_count if self.partition_count else 100

    @property
    def topics(self) -> list[str]:
        return sorted(self.wanted)


def shown_moves() -> list[StagedMove]:
    """Return the open moves, and the last that are over."""
    ended = StagedMove.objects.exclude(state__in=OPEN)[:ENDED_SHOWN]
    return [*StagedMove.open_ones(), *ended]
