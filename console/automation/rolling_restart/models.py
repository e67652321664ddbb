"""A rolling restart: what it may do, and how far each broker is."""

from django.db import models

from console.automation.rolling_restart.plan import OBJECT_NAME, OBJECT_TYPE
from console.kit.operations.models import Operation, one_open


class RollingRestart(Operation):
    TEMPLATE = "rolling_restart/progress.html"

    #: Whether partitions without a replica to spare may refuse writes or be offline meanwhile.
    accepts_gaps = models.BooleanField(default=False)

    class Meta(Operation.Meta):
        verbose_name = "rolling restart"
        constraints = [one_open("one_rolling_restart_at_a_time")]

    audited = (OBJECT_TYPE, OBJECT_NAME)

    @property
    def shown(self) -> dict[str, object]:
        return {"shown_brokers": list(self.brokers.all())}

    @property
    def broker_names(self) -> list[str]:
        return [broker.name for broker in self.brokers.all()]


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
