"""One row per process the console runs: how to start it, what is wanted, what was last seen, and a sentence on it."""

from django.db import models

from console.processes.states import Desired, Observed, Request

#: Seconds between SIGTERM and SIGKILL, by kind: a broker flushes its logs, a stream job finishes its batch.
GRACE_S = {"zookeeper": 5, "broker": 20, "demo": 5, "stream": 15}


class ManagedProcess(models.Model):
    class Kind(models.TextChoices):
        ZOOKEEPER = "zookeeper", "ZooKeeper"
        BROKER = "broker", "broker"
        DEMO = "demo", "demo sources"
        STREAM = "stream", "stream job"

    # How it is started; written by the registry.
    name = models.SlugField(max_length=60, unique=True)
    kind = models.CharField(max_length=20, choices=Kind)
    #: Order of start; the order of stop is the reverse.
    position = models.IntegerField(default=0)
    #: The host whose Celery worker runs it.
    host = models.CharField(max_length=255)
    argv = models.JSONField(default=list)
    #: Additions to the environment. Readable in the database: secrets have no place here.
    env = models.JSONField(default=dict)
    working_dir = models.CharField(max_length=1000)
    data_dir = models.CharField(max_length=1000)
    log_path = models.CharField(max_length=1000)
    #: Ports on 127.0.0.1 that must answer before it counts as running; the first is the one shown.
    ports = models.JSONField(default=list)

    # What is wanted; written by actions.
    desired = models.CharField(max_length=10, default=Desired.STOPPED.value)
    request = models.CharField(max_length=10, default=Request.NONE.value, blank=True)

    # What was seen; written by the step.
    observed = models.CharField(max_length=15, default=Observed.STOPPED.value)
    sentence = models.CharField(max_length=500, default="not started yet")
    pid = models.IntegerField(null=True)
    #: Seconds since the epoch, as psutil gives it: with the pid it names one process for ever.
    create_time = models.FloatField(null=True)
    run_token = models.CharField(max_length=40, blank=True)
    started_at = models.DateTimeField(null=True)
    terminated_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    exit_status = models.IntegerField(null=True)
    changed_at = models.DateTimeField(null=True)

    # What it costs, with its descendants; measured every few seconds.
    measured_at = models.DateTimeField(null=True)
    rss_bytes = models.BigIntegerField(null=True)
    cpu_seconds = models.FloatField(null=True)
    cpu_percent = models.FloatField(null=True)

    class Meta:
        ordering = ["position", "name"]

    def __str__(self) -> str:
        return self.name

    @property
    def grace_s(self) -> int:
        return GRACE_S[self.kind]

    @property
    def is_up(self) -> bool:
        """Something of it runs, or is about to: what Stop can end."""
        return self.observed in (Observed.STARTING, Observed.RUNNING, Observed.UNRESPONSIVE)
