"""What protects a topic's records, and where it was seen. Rows are added, and removed by administrators alone."""

from django.db import models

from console.cluster.records.masking import ANY_TOPIC

NAME_LENGTH_MAX, WHERE_LENGTH_MAX = 249, 300


class TopicProtection(models.Model):
    """A restricted topic. With an `origin` its records come from there, and masking rules of that topic count; without
    one it is internal.

    `topic_id` is empty where topics have no ids: then the name counts.
    """

    topic = models.CharField(max_length=NAME_LENGTH_MAX)
    topic_id = models.CharField(max_length=36, blank=True)
    origin = models.CharField(max_length=NAME_LENGTH_MAX, blank=True)
    #: `config.storage.topic of process` and the name of that process.
    where = models.CharField(max_length=WHERE_LENGTH_MAX)
    source = models.CharField(max_length=NAME_LENGTH_MAX, blank=True)
    since_ms = models.BigIntegerField()

    class Meta:
        ordering = ["topic", "origin", "pk"]
        constraints = [models.UniqueConstraint(fields=["topic", "topic_id", "origin"], name="topic_protection")]

    def __str__(self) -> str:
        return f"{self.topic}: {self.what}"

    @property
    def what(self) -> str:
        if self.origin == ANY_TOPIC:
            return "masking rules of all topics"
        return f"masking rules of {self.origin}" if self.origin else "internal topic"

    @property
    def why(self) -> str:
        return f"{self.where} {self.source}".strip()

    def is_of(self, topic_id: str) -> bool:
        """Return whether it is of the topic that has this id now, empty if it has none."""
        return topic_id == self.topic_id or not (topic_id and self.topic_id)
