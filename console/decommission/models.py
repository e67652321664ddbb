"""A departure: which broker leaves, who asked for it, how far it is, and one sentence on what it waits for."""

from django.conf import settings
from django.db import models


class Departure(models.Model):
    class State(models.TextChoices):
        DRAINING = "draining"
        PAUSED = "paused"
        STOPPING = "stopping"
        DONE = "done"
        CANCELLED = "called off"

    #: The managed process, and the broker it runs.
    name = models.CharField(max_length=60)
    broker_id = models.IntegerField()
    state = models.CharField(max_length=12, choices=State, default=State.DRAINING)
    sentence = models.CharField(max_length=500, blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    #: The name at that time: it stays when the user is deleted.
    actor_name = models.CharField(max_length=150)
    #: Bytes per second each broker copies at most; None: no throttle.
    rate = models.BigIntegerField(null=True)
    #: Partitions with a replica there when it began, and now.
    held = models.IntegerField(default=0)
    left = models.IntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                "name",
                condition=models.Q(state__in=["draining", "paused", "stopping"]),
                name="one_departure_of_a_broker",
            )
        ]

    def __str__(self) -> str:
        return f"departure of {self.name}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def tone(self) -> str:
        return {"paused": "warning", "done": "ok", "called off": "plain"}.get(self.state, "busy")

    @property
    def gone(self) -> int:
        """Partitions that have left it."""
        return max(0, self.held - self.left)


OPEN = (Departure.State.DRAINING, Departure.State.PAUSED, Departure.State.STOPPING)
