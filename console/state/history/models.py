"""One row per change that somebody saw. The table is bounded: the oldest rows go first."""

from django.db import models

#: Rows kept. A busy week, or a broker that comes and goes for a day.
ROWS_MAX = 100_000


class Kind(models.TextChoices):
    LEADER = "leader", "leader"
    ISR = "isr", "in-sync replicas"
    REPLICAS = "replicas", "replicas"
    BROKER = "broker", "broker"
    CONTROLLER = "controller", "controller"
    UNCLEAN = "unclean", "unclean election"
    TOPIC = "topic", "topic"
    PROCESS = "process", "process"


class Change(models.Model):
    #: When it was seen, ms since the epoch: about a second after it happened, later if nobody was looking.
    at_ms = models.BigIntegerField(db_index=True)
    kind = models.CharField(max_length=12, choices=Kind)
    object_name = models.CharField(max_length=249)
    partition = models.IntegerField(null=True)
    sentence = models.CharField(max_length=700)
    #: The colour beside the words: plain, ok, warning, critical.
    tone = models.CharField(max_length=10)

    class Meta:
        ordering = ["-at_ms", "-id"]
        indexes = [
            models.Index(fields=["object_name", "-at_ms"], name="history_object"),
            models.Index(fields=["-at_ms"], name="history_unclean", condition=models.Q(kind="unclean")),
        ]

    def __str__(self) -> str:
        return self.sentence
