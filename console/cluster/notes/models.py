"""What is said about a topic of a name. It stays when the topic is deleted, for who makes it again."""

from django.db import models

OWNER_LENGTH_MAX = 100
DESCRIPTION_LENGTH_MAX = 4_000


class TopicNote(models.Model):
    """`labels` with spaces between, lower case; `links` are pairs of words and address."""

    topic = models.CharField(max_length=249, unique=True)
    owner = models.CharField(max_length=OWNER_LENGTH_MAX, blank=True)
    description = models.CharField(max_length=DESCRIPTION_LENGTH_MAX, blank=True)
    labels = models.CharField(max_length=500, blank=True)
    links = models.JSONField(default=list)

    class Meta:
        ordering = ["topic"]

    def __str__(self) -> str:
        return self.topic

    @property
    def label_list(self) -> list[str]:
        return self.labels.split()
