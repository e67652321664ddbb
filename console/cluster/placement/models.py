"""Moves that were asked for here, kept with what takes them back; and every partition on the move, as last seen."""

from django.db import models

#: Moves that are over and still listed; what was asked, by whom and when stays in the audit.
KEPT = 50


class Reassignment(models.Model):
    """`former` and `wanted` are topic → partition → replicas."""

    class State(models.TextChoices):
        #: The controller may not have heard of it yet.
        BEGINNING = "beginning"
        RUNNING = "running"
        DONE = "done"
        CALLED_OFF = "called off"

    state = models.CharField(max_length=12, choices=State, default=State.BEGINNING)
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=100)
    object_name = models.CharField(max_length=255)
    former = models.JSONField()
    wanted = models.JSONField()
    partition_count = models.IntegerField()
    copied_bytes = models.BigIntegerField(default=0)
    #: Bytes per second; None: not throttled.
    rate = models.BigIntegerField(null=True)
    #: What was set for it ("set") and what was there before ("former"); None once it is put back.
    throttles = models.JSONField(null=True)
    sentence = models.CharField(max_length=500, blank=True)
    began_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                models.Value(1),
                condition=models.Q(state__in=["beginning", "running"], rate__isnull=False),
                name="one_throttled_move_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_name}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def tone(self) -> str:
        return {"done": "ok", "called off": "warning"}.get(self.state, "busy")


OPEN = (Reassignment.State.BEGINNING, Reassignment.State.RUNNING)


class OngoingMove(models.Model):
    """A partition in reassignment, whether or not by this console."""

    topic = models.CharField(max_length=249)
    partition = models.IntegerField()
    replicas = models.JSONField(default=list)
    adding = models.JSONField(default=list)
    removing = models.JSONField(default=list)
    #: Of one replica that is complete.
    size_bytes = models.BigIntegerField(default=0)
    #: [broker, bytes] of each replica that comes.
    copied = models.JSONField(default=list)
    bytes_per_second = models.FloatField(null=True)
    #: When it was first seen.
    since_ms = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["topic", "partition"]
        constraints = [models.UniqueConstraint(fields=["topic", "partition"], name="ongoing_move_of_partition")]

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} on the move"

    @property
    def total_bytes(self) -> int:
        return self.size_bytes * len(self.adding)

    @property
    def copied_bytes(self) -> int:
        """A copy may be larger than what it is copied from, where that was compacted since."""
        return sum(min(size, self.size_bytes) for _, size in self.copied)

    @property
    def percent(self) -> int:
        """At most 99: a move that has arrived is no longer listed."""
        if not self.adding:
            return 99
        return min(99, 100 * self.copied_bytes // self.total_bytes) if self.total_bytes else 0

    @property
    def rate(self) -> int | None:
        return None if self.bytes_per_second is None else round(self.bytes_per_second)

    @property
    def left_ms(self) -> int | None:
        """How long until everything is copied at this pace; None if unknown."""
        left = self.total_bytes - self.copied_bytes
        return round(1_000 * left / self.bytes_per_second) if self.bytes_per_second else None
