"""What was counted in a topic, kept for others to see without reading it again."""

from django.db import models

#: Rows kept: the oldest go first.
ROWS_MAX = 300


class Counted(models.Model):
    """The newest for a topic, for those from whom the same is hidden."""

    topic = models.CharField(max_length=249)
    #: Empty where the cluster gives topics none.
    topic_id = models.CharField(max_length=36, blank=True, default="")
    #: Of the paths that were hidden while it was read (`store.py`); who has others hidden does not see it.
    hidden = models.CharField(max_length=64)
    at_ms = models.BigIntegerField(db_index=True)
    actor_name = models.CharField(max_length=150)
    #: What was read, in words, and why it ended.
    window = models.CharField(max_length=100)
    ended = models.CharField(max_length=100)
    profile = models.JSONField(default=dict)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["topic", "hidden"], name="contents_counted_once"),)

    def __str__(self) -> str:
        return f"contents of {self.topic}"
