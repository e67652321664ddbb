"""A rolling restart: who asked, what it may do, how far each broker is, and one sentence on what it waits for."""

from django.conf import settings
from django.db import models


class RollingRestart(models.Model):
    class State(models.TextChoices):
        RUNNING = "running"
        PAUSED = "paused"
        DONE = "done"
        CANCELLED = "cancelled"

    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    #: The name at that time: it stays when the user is deleted.
    actor_name = models.CharField(max_length=150)
    #: Whether partitions without a replica to spare may refuse writes or be offline meanwhile.
    accepts_gaps = models.BooleanField(default=False)
    sentence = models.CharField(max_length=500, blank=True)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                models.Value(1),
                condition=models.Q(state__in=["running", "paused"]),
                name="one_rolling_restart_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"rolling restart {self.pk}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in (self.State.RUNNING, self.State.PAUSED)

    @property
    def broker_names(self) -> list[str]:
        return [each.name for each in self.brokers.all()]


class RestartedBroker(models.Model):
    """One broker of a rolling restart, in the order in which they were listed."""

    restart = models.ForeignKey(RollingRestart, on_delete=models.CASCADE, related_name="brokers")
    position = models.IntegerField()
    #: The managed process, and the broker it runs.
    name = models.CharField(max_length=60)
    broker_id = models.IntegerField()
    progress = models.CharField(max_length=15, default="waiting")
    asked_at = models.DateTimeField(null=True)
    #: When its new process was first seen running.
    back_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return f"{self.name}: {self.progress}"

    @property
    def took_s(self) -> float | None:
        return (self.done_at - self.asked_at).total_seconds() if self.done_at and self.asked_at else None
