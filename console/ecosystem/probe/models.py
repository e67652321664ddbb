"""What the probe said last, and what it measured: some 2,300 rows, however long the console runs."""

from django.db import models

MINUTE, HOUR = 0, 1


class ProbeState(models.Model):
    """One row: the state that the probe reported at `at_ms`; `error` says why it does not report, and since when."""

    at_ms = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    error_since_ms = models.BigIntegerField(default=0)
    topic = models.CharField(max_length=249, blank=True)
    #: [number, how many it leads, whether it is registered, since when it is blamed or None, why] each.
    brokers = models.JSONField(default=list)
    #: [number, leader, replicas] each.
    partitions = models.JSONField(default=list)
    #: [partition, since when, error, the silent brokers among its replicas] each.
    troubled = models.JSONField(default=list)
    #: [records that have not come through the mirror, why it cannot be read]; empty: there is none.
    mirror = models.JSONField(default=list)
    #: Acknowledged records of the last day that are not there.
    lost = models.IntegerField(default=0)

    def __str__(self) -> str:
        return f"probe at {self.at_ms}"


class ProbeWindow(models.Model):
    """What was counted in one minute or hour, as `figures` reads it: of the whole, and by part."""

    tier = models.SmallIntegerField()
    begins_ms = models.BigIntegerField()
    whole = models.JSONField(default=dict)
    parts = models.JSONField(default=dict)
    #: Brokers that did not answer for seconds.
    silent = models.JSONField(default=list)

    class Meta:
        ordering = ["begins_ms"]
        constraints = [models.UniqueConstraint(fields=["tier", "begins_ms"], name="probe_window")]

    def __str__(self) -> str:
        return f"tier {self.tier} from {self.begins_ms}"
