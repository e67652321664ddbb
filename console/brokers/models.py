"""A broker as the collector knows it: registered now, or seen before and missing."""

from django.db import models

#: A broker that leaves this often within the window does not stay: something ends it again and again.
FLAPPING_DEPARTURES = 3
FLAPPING_WINDOW_MS = 600_000


class Broker(models.Model):
    broker_id = models.IntegerField(unique=True)
    host = models.CharField(max_length=255, blank=True)
    port = models.IntegerField(null=True)
    rack = models.CharField(max_length=255, blank=True)
    is_registered = models.BooleanField(default=True)
    #: When it came or went, ms since the epoch.
    changed_at_ms = models.BigIntegerField(default=0)
    #: When it left, of late: ms since the epoch, oldest first.
    departures = models.JSONField(default=list)
    #: Counted over all partitions by the collector.
    leader_count = models.IntegerField(default=0)
    replica_count = models.IntegerField(default=0)
    out_of_sync_count = models.IntegerField(default=0)
    #: Partitions whose first replica it holds, and those of them it leads.
    preferred_count = models.IntegerField(default=0)
    preferred_led_count = models.IntegerField(default=0)

    class Meta:
        ordering = ["broker_id"]

    def __str__(self) -> str:
        return f"broker {self.broker_id}"

    def departures_since(self, at_ms: int, window_ms: int = FLAPPING_WINDOW_MS) -> int:
        """How often it left within `window_ms` before `at_ms`."""
        return sum(at_ms - left_at_ms < window_ms for left_at_ms in self.departures)

    def is_flapping(self, at_ms: int) -> bool:
        return self.departures_since(at_ms) >= FLAPPING_DEPARTURES

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}" if self.host else "never seen"
