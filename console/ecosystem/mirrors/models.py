"""A row for each topic that is copied into this cluster, or from it into another that is looked at."""

from django.db import models


class MirroredTopic(models.Model):
    """`flow` is SOURCE->TARGET by the aliases of the mirror, `topic` the source's, `target` its copy."""

    #: Where the copy lies: empty for this cluster, else an alias of settings.MIRROR_CLUSTERS.
    cluster = models.CharField(max_length=100, default="", blank=True)
    flow = models.CharField(max_length=201)
    topic = models.CharField(max_length=249)
    target = models.CharField(max_length=249)
    #: By number: what `collect.PARTITION` names.
    partitions = models.JSONField(default=dict)
    #: Records that are not copied yet, where it is known; records a second.
    lag = models.BigIntegerField(null=True)
    rate = models.FloatField(default=0.0)
    records = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    #: Records that had been in the target before.
    skipped = models.BigIntegerField(default=0)
    #: Timestamp of the last record copied, of the partition that is furthest behind.
    copied_until_ms = models.BigIntegerField(null=True)
    #: Partitions that are not copied for now, and what the first of them is told.
    failing = models.IntegerField(default=0)
    error = models.TextField(blank=True)
    #: When the mirror said so.
    at_ms = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["flow", "cluster", "topic"]
        constraints = [models.UniqueConstraint(fields=["cluster", "flow", "topic"], name="mirrored_topic")]

    def __str__(self) -> str:
        return f"{self.flow}: {self.topic}"
