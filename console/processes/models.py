"""One row per process the console runs: how to start it, what is wanted, what was last seen, and a sentence on it."""

import shlex
from pathlib import Path

from django.conf import settings
from django.db import models

from console.processes.kinds import KINDS, kind_named
from console.processes.kinds.spec import Launch, SpecError, check_name
from console.processes.restarts import Policy
from console.processes.states import Desired, Observed, Request
from console.processes.truths import ProcessState


class ManagedProcess(models.Model):
    class Kind(models.TextChoices):
        ZOOKEEPER = "zookeeper", KINDS["zookeeper"].LABEL
        BROKER = "broker", KINDS["broker"].LABEL
        SECOND = "second", KINDS["second"].LABEL
        REGISTRY = "registry", KINDS["registry"].LABEL
        CONNECT = "connect", KINDS["connect"].LABEL
        MIRROR = "mirror", KINDS["mirror"].LABEL
        COUNTER = "counter", KINDS["counter"].LABEL
        STREAM = "stream", KINDS["stream"].LABEL
        PROBE = "probe", KINDS["probe"].LABEL

    # What it is; written by the registry.
    name = models.SlugField(max_length=60, unique=True)
    kind = models.CharField(max_length=20, choices=Kind)
    #: What its kind's module makes of it: `console/processes/kinds/`. Readable by everybody: no secrets.
    spec = models.JSONField(default=dict)
    #: The setup (`registry.register`) made it and follows its settings; else an operator did.
    is_from_setup = models.BooleanField(default=False)
    #: Order of start; the order of stop is the reverse.
    position = models.IntegerField(default=0)
    #: The host whose Celery worker runs it.
    host = models.CharField(max_length=255)
    #: Ports on 127.0.0.1 that must answer before it counts as running; the first is the one shown.
    ports = models.JSONField(default=list)

    # What is wanted; written by actions.
    desired = models.CharField(max_length=10, default=Desired.STOPPED.value)
    request = models.CharField(max_length=10, default=Request.NONE.value, blank=True)
    #: Whether it is started again when it ended by itself.
    restart = models.CharField(max_length=10, default=Policy.ALWAYS.value)
    #: It is to be forgotten as soon as it has stopped; its files stay.
    is_leaving = models.BooleanField(default=False)

    # What was seen; written by the step.
    observed = models.CharField(max_length=15, default=Observed.STOPPED.value)
    sentence = models.CharField(max_length=500, default="not started yet")
    #: The one honest state, with its sentence, and two of the four truths it was worked out from.
    state = models.CharField(max_length=30, default=ProcessState.STOPPED.value)
    state_sentence = models.CharField(max_length=700, default="not started yet")
    port_says = models.CharField(max_length=200, blank=True)
    cluster_says = models.CharField(max_length=300, blank=True)
    pid = models.IntegerField(null=True)
    #: Seconds since the epoch, as psutil gives it: with the pid it names one process for ever.
    create_time = models.FloatField(null=True)
    run_token = models.CharField(max_length=40, blank=True)
    started_at = models.DateTimeField(null=True)
    terminated_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    exit_status = models.IntegerField(null=True)
    changed_at = models.DateTimeField(null=True)
    #: Ends by itself of late, ms since the epoch, and how many there were since it last ran for long.
    deaths = models.JSONField(default=list)
    deaths_in_a_row = models.IntegerField(default=0)
    start_again_at = models.DateTimeField(null=True)
    #: How often it was started again by itself, ever.
    restart_count = models.IntegerField(default=0)

    # What it costs, with its descendants; measured every few seconds.
    measured_at = models.DateTimeField(null=True)
    memory_bytes = models.BigIntegerField(null=True)
    cpu_seconds = models.FloatField(null=True)
    cpu_percent = models.FloatField(null=True)

    class Meta:
        ordering = ["position", "name"]

    def __str__(self) -> str:
        return self.name

    @property
    def launch(self) -> Launch:
        """How it is started, from its validated kind and spec. Raises SpecError."""
        check_name(self.name)
        if self.kind not in KINDS:
            raise SpecError(f"{self.kind} is no kind of process; there are {', '.join(KINDS)}.")
        kind = kind_named(self.kind)
        return kind.launch(kind.check(self.spec))

    @property
    def command(self) -> str:
        """Return the command as a person types it."""
        try:
            return shlex.join(["python", "-m", "broker", *self.launch.arguments])
        except SpecError as error:
            return f"none: {error}"

    @property
    def data_dir(self) -> Path:
        """A path that does not exist for one whose spec cannot be."""
        try:
            return self.launch.data_dir
        except SpecError:
            return settings.RUN_DIR / "no-directory"

    @property
    def log_path(self) -> Path:
        return settings.LOG_DIR / f"{self.name}.log"

    @property
    def grace_s(self) -> int:
        """Seconds between SIGTERM and SIGKILL: a broker flushes its logs, a stream job finishes its batch."""
        return kind_named(self.kind).GRACE_S

    @property
    def waits_for_restart(self) -> bool:
        """Whether the process died and waits for its automatic restart."""
        return self.observed == Observed.EXITED and self.start_again_at is not None


class WithdrawnProcess(models.Model):
    """A process that an operator removed: the setup does not make it again, and a broker is not missed."""

    name = models.SlugField(max_length=60, unique=True)

    def __str__(self) -> str:
        return self.name
