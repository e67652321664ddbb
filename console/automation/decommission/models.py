"""A broker that leaves for good: which, and how much of it has moved away."""

from django.db import models

from console.kit.operations.models import Operation, one_open


class Decommission(Operation):
    TEMPLATE = "decommission/progress.html"

    #: The managed process, and the broker it runs.
    name = models.CharField(max_length=60)
    broker_id = models.IntegerField()
    #: It holds nothing any more: its end has begun, and is not called off.
    is_stopping = models.BooleanField(default=False)
    #: Bytes per second each broker copies at most; None: no throttle.
    rate = models.BigIntegerField(null=True)
    #: Partitions with a replica there when it began, and now.
    held = models.IntegerField(default=0)
    left = models.IntegerField(default=0)

    class Meta(Operation.Meta):
        constraints = [one_open("one_decommission_of_a_broker", "name")]

    @property
    def audited(self) -> tuple[str, str]:
        return "process", self.name

    @property
    def can_be_called_off(self) -> bool:
        return self.is_open and not self.is_stopping

    @property
    def word(self) -> str:
        if self.state == self.State.RUNNING:
            return "stopping" if self.is_stopping else "draining"
        return super().word

    @property
    def gone(self) -> int:
        """Partitions that have left it."""
        return max(0, self.held - self.left)
