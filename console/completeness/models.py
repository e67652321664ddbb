"""A row for each topic the message audit speaks of."""

from django.db import models


class AuditedTopic(models.Model):
    """`complete_until_ms`: the end of the last window before the first that is not complete; None: there is none."""

    name = models.CharField(max_length=249, unique=True)
    complete_until_ms = models.BigIntegerField(null=True)
    window_ms = models.BigIntegerField(default=60_000)
    #: Oldest first: [window, state, {tier: [records, bytes]}] of the newest `WINDOWS_KEPT`.
    windows = models.JSONField(default=list)
    #: Newest first: [window, tier, state, partition, offset, sentence] of the newest `FINDINGS_KEPT`.
    findings = models.JSONField(default=list)
    finding_count = models.IntegerField(default=0)
    #: Windows that should be complete by now and wait for a tier that lags.
    late_count = models.IntegerField(default=0)
    #: When somebody last counted.
    at_ms = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
