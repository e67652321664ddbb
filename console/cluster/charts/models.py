"""Rows of packed values: some hundred of them for each series, however long the console runs."""

from django.db import models

from console.cluster.charts.measures import NAME_LENGTH_MAX


class Series(models.Model):
    """A series of one object; `kind` is one of measures.KINDS and says which columns its values have."""

    kind = models.CharField(max_length=12)
    name = models.CharField(max_length=NAME_LENGTH_MAX)
    #: From 1, the lowest that no other of its kind had when it began: its colour. None: it began before there were any.
    number = models.IntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "name"], name="series_of_object")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class SeriesRow(models.Model):
    """`tiers.ChartRow`, packed: the points of one tier from `begins_ms` on."""

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="rows")
    tier = models.SmallIntegerField()
    begins_ms = models.BigIntegerField()
    values = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["series", "tier", "begins_ms"], name="row_of_series")]
        indexes = [models.Index(fields=["tier", "begins_ms"], name="row_by_age")]

    def __str__(self) -> str:
        return f"{self.series_id} tier {self.tier} from {self.begins_ms}"
