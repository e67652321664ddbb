"""What was true of an object, and from when until when; and the times at which nobody looked."""

from enum import StrEnum

from django.db import models

from console.state.consumers.rows import GROUP_NAME_LENGTH_MAX

#: How long what is over is kept; as long as charts are.
KEPT_MS = 31 * 24 * 3_600_000
#: Rows that are over. A broker of 10,000 topics that comes and goes ends as many at once.
ROWS_MAX = 200_000


class TimelineKind(StrEnum):
    TOPIC = "topic"
    SETTINGS = "settings"  #: of a topic, its own
    GROUP = "group"
    BROKER = "broker"
    CONTROLLER = "controller"


class Was(models.Model):
    """`states` says what is packed in `state`. Moments in ms since the epoch; `until_ms` None: it is so now."""

    kind = models.CharField(max_length=10)
    name = models.CharField(max_length=GROUP_NAME_LENGTH_MAX)
    from_ms = models.BigIntegerField()
    until_ms = models.BigIntegerField(null=True)
    state = models.BinaryField()
    #: Of a TOPIC, so that a list of thousands is chosen and summed in the database.
    partition_count = models.IntegerField(default=0)
    out_of_sync_count = models.IntegerField(default=0)
    leaderless_count = models.IntegerField(default=0)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "name"], condition=models.Q(until_ms=None), name="was_now")
        ]
        indexes = [
            models.Index(fields=["kind", "until_ms", "from_ms"], name="was_at"),
            models.Index(fields=["kind", "name", "from_ms"], name="was_of"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} from {self.from_ms}"


class Unseen(models.Model):
    """A time without observation. The one that begins at 0 is the time before anything that is kept."""

    from_ms = models.BigIntegerField(unique=True)
    until_ms = models.BigIntegerField()

    class Meta:
        ordering = ["from_ms"]

    def __str__(self) -> str:
        return f"unseen from {self.from_ms}"
