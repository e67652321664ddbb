"""Connectors as the collector last saw them, and the workers that run them. No secret of a configuration is here."""

from django.db import models

from console.ecosystem.connectors.answers import NAME_LENGTH_MAX

KIND_LENGTH_MAX, WORD_LENGTH_MAX, TOPIC_LENGTH_MAX = 10, 255, 249
#: Of one connector; with so many its configuration may name more.
TOPICS_KEPT = 200


class Connector(models.Model):
    name = models.CharField(max_length=NAME_LENGTH_MAX, unique=True)
    #: source, sink or unknown.
    kind = models.CharField(max_length=KIND_LENGTH_MAX)
    class_name = models.CharField(max_length=WORD_LENGTH_MAX, blank=True)
    #: As Connect has it: RUNNING, PAUSED, STOPPED, FAILED, UNASSIGNED, RESTARTING.
    state = models.CharField(max_length=40)
    worker = models.CharField(max_length=WORD_LENGTH_MAX, blank=True)
    trace = models.TextField(blank=True)
    #: [number, state, worker, trace] each.
    tasks = models.JSONField(default=list)
    task_count = models.IntegerField(default=0)
    running_count = models.IntegerField(default=0)
    failed_count = models.IntegerField(default=0)
    #: Without its secrets.
    config = models.JSONField(default=dict)
    #: Those that the configuration names.
    topics = models.JSONField(default=list)
    dead_letters = models.CharField(max_length=TOPIC_LENGTH_MAX, blank=True)
    #: The consumer group of a sink.
    group = models.CharField(max_length=2 * WORD_LENGTH_MAX, blank=True)
    #: Since when it, or a task of it, has failed; None: nothing has.
    failed_since_ms = models.BigIntegerField(null=True)
    #: Since when a running sink has topics that no member of its group holds; None: there are none, or not for long.
    unassigned_since_ms = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def short_class(self) -> str:
        return self.class_name.rpartition(".")[2]

    @property
    def is_failed(self) -> bool:
        return self.state == "FAILED" or self.failed_count > 0


class ConnectLook(models.Model):
    """One row: who answered last, and how much is not shown."""

    #: [address, version, id of its cluster, why it does not answer] each.
    workers = models.JSONField(default=list)
    left_out = models.IntegerField(default=0)

    def __str__(self) -> str:
        return f"{len(self.workers)} workers"
