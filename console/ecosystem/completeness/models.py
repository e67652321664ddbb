"""What the message audit has said: a row for each topic, and what was delivered of it to whom, in three resolutions."""

from django.db import models

#: Of a group, connector or mirror; who has a longer one is in the matrix of windows only.
NAME_LENGTH_MAX = 512


class AuditedTopic(models.Model):
    """`complete_until_ms`: the end of the last window before the first that is not complete; None: there is none."""

    name = models.CharField(max_length=249, unique=True)
    complete_until_ms = models.BigIntegerField(null=True)
    window_ms = models.BigIntegerField(default=60_000)
    #: Oldest first: [window, state, {tier: [records, bytes]}] of the newest `WINDOWS_KEPT`.
    windows = models.JSONField(default=list)
    #: Newest first: [window, tier, state, partition, offset, sentence], `FINDINGS_KEPT` of them; then what groups did.
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


class DeliverySeries(models.Model):
    """What a tier has counted of a topic. `reader`: the group, mirror or sink; of the tier `appended` who counts.

    Its other columns are what came to it of the last hour's windows, as far as they are settled, when that was last
    written; None where nothing can be said.
    """

    topic = models.CharField(max_length=249)
    tier = models.CharField(max_length=12)
    reader = models.CharField(max_length=NAME_LENGTH_MAX)
    #: Of the first window it ever counted.
    first_ms = models.BigIntegerField()
    #: When it was last heard.
    at_ms = models.BigIntegerField(default=0)
    window_ms = models.BigIntegerField(default=60_000)
    expected = models.BigIntegerField(null=True)
    received = models.BigIntegerField(null=True)
    again = models.BigIntegerField(null=True)
    aside = models.BigIntegerField(null=True)
    delivered = models.FloatField(null=True)
    p50_ms = models.FloatField(null=True)
    p95_ms = models.FloatField(null=True)
    p99_ms = models.FloatField(null=True)
    most_ms = models.FloatField(null=True)
    early = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["topic", "tier", "reader"], name="delivery_of_reader")]

    def __str__(self) -> str:
        return f"{self.topic} {self.tier} {self.reader}"


class DeliveryRow(models.Model):
    """`points.Points`, packed: one tier's steps from `begins_ms` on."""

    series = models.ForeignKey(DeliverySeries, on_delete=models.CASCADE, related_name="rows")
    tier = models.SmallIntegerField()
    begins_ms = models.BigIntegerField()
    points = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["series", "tier", "begins_ms"], name="row_of_delivery")]
        indexes = [models.Index(fields=["tier", "begins_ms"], name="delivery_by_age")]

    def __str__(self) -> str:
        return f"{self.series_id} tier {self.tier} from {self.begins_ms}"


class AuditPosition(models.Model):
    """All before `offset` of a partition of the audit topic is in the sums: both are written together.

    `topic_id`: of which topic of that name; empty where the cluster gives none.
    """

    partition = models.IntegerField(unique=True)
    offset = models.BigIntegerField()
    topic_id = models.CharField(max_length=36, blank=True)

    def __str__(self) -> str:
        return f"{self.partition}: {self.offset}"
