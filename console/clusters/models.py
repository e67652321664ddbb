"""What the collector last saw of the cluster as a whole, how old that is, and its recent past."""

from django.db import models

from console.live.clock import now_ms

#: The collector's silence after which a page says so; it writes a heartbeat every second.
SILENCE_MS = 5_000
#: One cluster for now; the row's name is where a second one will hang.
DEFAULT_CLUSTER = "default"


class ClusterState(models.Model):
    """One row: the last good answer of each tier, the moment it was given and the error since, if there is one."""

    name = models.CharField(max_length=100, unique=True)
    cluster_id = models.CharField(max_length=64, blank=True)
    controller_id = models.IntegerField(null=True)
    #: Moments in ms since the epoch; 0: never.
    heartbeat_at_ms = models.BigIntegerField(default=0)
    brokers_at_ms = models.BigIntegerField(default=0)
    brokers_error = models.TextField(blank=True)
    zookeeper_at_ms = models.BigIntegerField(default=0)
    #: One object per server: address, mode, error, version, znode_count, connections, latency_ms.
    zookeeper = models.JSONField(default=list)
    topics_at_ms = models.BigIntegerField(default=0)
    topics_error = models.TextField(blank=True)
    groups_at_ms = models.BigIntegerField(default=0)
    groups_error = models.TextField(blank=True)
    #: When the worker last looked at all processes of its host.
    processes_at_ms = models.BigIntegerField(default=0)
    #: Records appended per second over all topics but internal ones, and its recent past, oldest first.
    records_per_second = models.FloatField(null=True)
    rate_history = models.JSONField(default=list)

    def __str__(self) -> str:
        return self.name

    @property
    def is_collector_silent(self) -> bool:
        return now_ms() - self.heartbeat_at_ms > SILENCE_MS


#: What may be quiet at a time: more would be a list that nobody reads.
QUIET_MAX = 100
QUIET_KEY_LENGTH_MAX = 700
QUIET_WHY_LENGTH_MAX = 200


class QuietReason(models.Model):
    """What somebody said of a reason of health, and of which one: as `quiet.Quiet` says."""

    key = models.CharField(max_length=QUIET_KEY_LENGTH_MAX, unique=True)
    kind = models.CharField(max_length=12)
    #: Whose rights it takes: cluster, or the group or process called `name`.
    about = models.CharField(max_length=10)
    name = models.CharField(max_length=255, blank=True)
    #: The reason as it was then.
    text = models.CharField(max_length=500)
    level = models.CharField(max_length=10)
    weight = models.BigIntegerField(default=0)
    parts = models.JSONField(default=list)
    actor_name = models.CharField(max_length=150)
    why = models.CharField(max_length=QUIET_WHY_LENGTH_MAX)
    since_ms = models.BigIntegerField()
    #: None: until it is taken back.
    until_ms = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.key} {self.kind}"


class ClusterSample(models.Model):
    """The cluster at a moment; None where nothing was known."""

    #: ms since the epoch.
    at_ms = models.BigIntegerField(db_index=True)
    records_per_second = models.FloatField(null=True)
    bytes_per_second = models.FloatField(null=True)
    #: Records that all groups together have not read.
    lag = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["at_ms"]

    def __str__(self) -> str:
        return f"cluster at {self.at_ms}"
