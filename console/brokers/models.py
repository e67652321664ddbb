"""A broker as the collector knows it: registered now, or seen before and missing."""

from django.db import models


class Broker(models.Model):
    broker_id = models.IntegerField(unique=True)
    host = models.CharField(max_length=255, blank=True)
    port = models.IntegerField(null=True)
    rack = models.CharField(max_length=255, blank=True)
    is_registered = models.BooleanField(default=True)
    #: When it came or went, ms since the epoch.
    changed_at_ms = models.BigIntegerField(default=0)
    #: Counted over all partitions by the collector.
    leader_count = models.IntegerField(default=0)
    replica_count = models.IntegerField(default=0)
    out_of_sync_count = models.IntegerField(default=0)

    class Meta:
        ordering = ["broker_id"]

    def __str__(self) -> str:
        return f"broker {self.broker_id}"

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}" if self.host else "never seen"
