"""What retention will do, topic by topic, and how fast each broker's disk fills: as last seen by the collector."""

from django.db import models

from console.kit.common.clock import now_ms
from console.state.clusters.models import Topic


class TopicOutlook(models.Model):
    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, related_name="outlook")
    at_ms = models.BigIntegerField(default=0)
    #: Of each partition; None: nobody has said, -1: no limit.
    retention_bytes = models.BigIntegerField(null=True)
    #: When the oldest record was written; None: there is none, or nobody knows.
    oldest_at_ms = models.BigIntegerField(null=True)
    #: What would be deleted now; None: nobody has said.
    doomed_records = models.BigIntegerField(null=True)
    doomed_bytes = models.BigIntegerField(null=True)
    doomed_segments = models.IntegerField(null=True)
    #: Records of those that a group has not read, all groups together, and the groups.
    lost_records = models.BigIntegerField(default=0)
    losing_groups = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"outlook of {self.topic}"

    @property
    def oldest_age_ms(self) -> int | None:
        return None if self.oldest_at_ms is None else max(0, now_ms() - self.oldest_at_ms)


class DiskGrowth(models.Model):
    """How a log directory and the room on its volume change; None: not watched for long enough."""

    broker_id = models.IntegerField()
    path = models.CharField(max_length=1_024)
    logs_per_second = models.FloatField(null=True)
    #: Bytes that the room shrinks by, whoever writes them; below 0: it grows.
    filling_per_second = models.FloatField(null=True)
    #: The same over hours; None: not watched for minutes yet.
    long_filling_per_second = models.FloatField(null=True)

    class Meta:
        ordering = ["broker_id", "path"]
        constraints = [models.UniqueConstraint(fields=["broker_id", "path"], name="growth_of_directory")]

    def __str__(self) -> str:
        return f"{self.path} of broker {self.broker_id}"
