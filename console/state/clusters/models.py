"""What the collector last saw of the cluster: its state as a whole, its brokers, topics and partitions.

Every feature reads brokers and topics, so their models are here; their tables and migrations stay with the apps of that
name (`app_label`). The sums that a list sorts by are stored, so that it sorts in the database.
"""

from typing import Any

from django.db import models

from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import here
from console.kit.common.figures import grouped
from console.state.clusters.outage import Outage, outage_of

#: The collector's silence after which a page says so; it writes a heartbeat every second.
SILENCE_MS = 5_000
#: A broker that leaves this often within the window does not stay: something ends it again and again.
FLAPPING_TIMES = 3
FLAPPING_WINDOW_MS = 600_000


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
    #: Of a KRaft cluster the fields of `quorum.members.QuorumSummary`, empty of another; why it cannot be read now.
    quorum = models.JSONField(default=dict)
    quorum_error = models.TextField(blank=True)
    #: Whether the cluster keeps eligible leader replicas (KIP-966), of either kind.
    keeps_elr = models.BooleanField(default=False)
    topics_at_ms = models.BigIntegerField(default=0)
    topics_error = models.TextField(blank=True)
    groups_at_ms = models.BigIntegerField(default=0)
    groups_error = models.TextField(blank=True)
    #: When the worker last looked at all processes of its host.
    processes_at_ms = models.BigIntegerField(default=0)
    #: Of Kafka Connect.
    connectors_at_ms = models.BigIntegerField(default=0)
    connectors_error = models.TextField(blank=True)
    #: Records appended per second over all topics but internal ones, and its recent past, oldest first.
    records_per_second = models.FloatField(null=True)
    rate_history = models.JSONField(default=list)
    #: Broker or `all brokers` → the lowest replication throttle that it sets, in bytes per second; topics whose
    #: replicas it holds for.
    throttled_brokers = models.JSONField(default=dict)
    throttled_topics = models.JSONField(default=list)
    #: Clients that brokers denied something of late: the fields of `acls.denied.DeniedClient`.
    denied = models.JSONField(default=list)
    #: Open transactions that do not end: the fields of `producers.stuck.StuckTransaction`.
    stuck_transactions = models.JSONField(default=list)
    #: Subjects whose schemas the registry refuses: the fields of `schemas.refused.RefusedSchema`; why it is silent.
    refused_schemas = models.JSONField(default=list)
    registry_error = models.TextField(blank=True, default="")

    def __str__(self) -> str:
        return self.name

    @property
    def is_collector_silent(self) -> bool:
        return now_ms() - self.heartbeat_at_ms > SILENCE_MS

    @property
    def brokers_outage(self) -> Outage | None:
        """Why the brokers' state is unknown; None while it is known."""
        return self._outage(self.brokers_error, self.brokers_at_ms)

    @property
    def outage(self) -> Outage | None:
        """Why the state of brokers or partitions is unknown; None while both are known."""
        return self.brokers_outage or self._outage(self.topics_error, self.topics_at_ms or self.brokers_at_ms)

    @property
    def groups_outage(self) -> Outage | None:
        """Why the consumer groups' state is unknown; None while it is known."""
        return self.outage or self._outage(self.groups_error, self.groups_at_ms or self.brokers_at_ms)

    @property
    def outages(self) -> dict[str, Any]:
        """Return all of them, by the names of these properties."""
        names = ("brokers_outage", "outage", "groups_outage")
        return {name: getattr(self, name) for name in names}

    @property
    def unknown_tiers(self) -> frozenset[str]:
        """The tiers whose rows may be out of date."""
        unknown = {
            "brokers": self.brokers_outage, "topics": self.outage, "groups": self.groups_outage,
            "connectors": self.connectors_error,
        }  # fmt: skip
        return frozenset(name for name, why in unknown.items() if why)

    def _outage(self, error: str, seen_at_ms: int) -> Outage | None:
        return outage_of(error, seen_at_ms, self.heartbeat_at_ms, now_ms(), here.BOOTSTRAP_SERVERS)


class Broker(models.Model):
    broker_id = models.IntegerField(unique=True)
    host = models.CharField(max_length=255, blank=True)
    port = models.IntegerField(null=True)
    rack = models.CharField(max_length=255, blank=True)
    is_registered = models.BooleanField(default=True)
    #: When it came or went, ms since the epoch.
    changed_at_ms = models.BigIntegerField(default=0)
    #: When it left, of late: ms since the epoch, oldest first.
    left_at_ms = models.JSONField(default=list)
    #: Counted over all partitions by the collector.
    leader_count = models.IntegerField(default=0)
    replica_count = models.IntegerField(default=0)
    out_of_sync_count = models.IntegerField(default=0)
    #: Replicas that a move brings and that are not complete yet; none of them is out of sync.
    copying_count = models.IntegerField(default=0)
    #: Partitions whose first replica it holds, and those of them it leads.
    preferred_count = models.IntegerField(default=0)
    preferred_led_count = models.IntegerField(default=0)
    #: On disk, all its replicas together.
    size_bytes = models.BigIntegerField(default=0)
    #: Appended to the partitions it leads, Kafka's own topics included; None: not known yet.
    records_per_second = models.FloatField(null=True)
    bytes_per_second = models.FloatField(null=True)
    #: What it runs and the Kafka release whose APIs it speaks, as far as these tell; empty: not known yet.
    software = models.CharField(max_length=40, blank=True)
    speaks = models.CharField(max_length=10, blank=True)
    api_count = models.IntegerField(null=True)

    #: Set by `with_state_names` of the room of brokers, and no columns.
    word: str
    tone: str
    #: Set by `with_restart_safety` of that room, and no columns.
    restart_word: str
    restart_tone: str
    restart_meaning: str

    class Meta:
        app_label = "brokers"
        ordering = ["broker_id"]

    def __str__(self) -> str:
        return f"broker {self.broker_id}"

    def times_left_since(self, at_ms: int, window_ms: int = FLAPPING_WINDOW_MS) -> int:
        """Return how often the broker left within `window_ms` before `at_ms`."""
        return sum(at_ms - value < window_ms for value in self.left_at_ms)

    def is_flapping(self, at_ms: int) -> bool:
        return self.times_left_since(at_ms) >= FLAPPING_TIMES

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}" if self.host else "never seen"


class Topic(models.Model):
    name = models.CharField(max_length=249, unique=True)
    topic_id = models.CharField(max_length=36, blank=True)
    is_internal = models.BooleanField(default=False)
    partition_count = models.IntegerField(default=0)
    replication_factor = models.IntegerField(default=0)
    #: None: the cluster has not said yet.
    min_insync_replicas = models.IntegerField(null=True)
    #: Partitions that are led and refuse acks=all, because fewer replicas than that are in sync.
    under_min_isr_count = models.IntegerField(default=0)
    under_replicated_count = models.IntegerField(default=0)
    leaderless_count = models.IntegerField(default=0)
    #: Sum over partitions of next offset - first offset: an upper bound of the records (compaction leaves gaps).
    record_count = models.BigIntegerField(default=0)
    records_per_second = models.FloatField(null=True)
    #: Records that groups' commits moved by, all groups together; None: not known yet, or nobody commits.
    read_per_second = models.FloatField(null=True)
    #: On disk, all replicas together, as far as their brokers have said.
    size_bytes = models.BigIntegerField(default=0)
    #: Bytes that it has more than 24 hours ago, or than when it was first seen since; None: not known yet.
    day_growth_bytes = models.BigIntegerField(null=True)
    #: When the collector last saw records arrive, ms since the epoch; 0: never.
    last_record_at_ms = models.BigIntegerField(default=0)
    #: Unknown until the cluster has said.
    retention_ms = models.BigIntegerField(null=True)
    cleanup_policy = models.CharField(max_length=40, blank=True)

    #: Set by `with_groups`, `with_notes` and `with_outlooks` (a TopicOutlook) of the rooms of topics, and no columns.
    group_count: int
    lag: int | None
    may_change: bool
    owner: str | None
    labels: str | None
    seen: object

    class Meta:
        app_label = "topics"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def state_word(self) -> str:
        """The most common problem of its partitions' replicas, the worst first; `state_tone` has the tone."""
        if self.leaderless_count:
            return f"{grouped(self.leaderless_count)} without leader"
        if self.under_min_isr_count:
            return f"{grouped(self.under_min_isr_count)} below min ISR"
        if self.under_replicated_count:
            return f"{grouped(self.under_replicated_count)} under-replicated"
        return "in sync"

    @property
    def state_tone(self) -> str:
        if self.leaderless_count or self.under_min_isr_count:
            return "critical"
        return "warning" if self.under_replicated_count else "ok"

    @property
    def deletes_by_age(self) -> bool:
        return "delete" in self.cleanup_policy

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy


class Partition(models.Model):
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="partitions")
    partition = models.IntegerField()
    #: None: no leader.
    leader = models.IntegerField(null=True)
    leader_epoch = models.IntegerField(null=True)
    replicas = models.JSONField(default=list)
    isr = models.JSONField(default=list)
    #: Of the replicas, those a move brings; while they are copied they are not out of sync.
    adding = models.JSONField(default=list)
    #: The last known ones; None: never answered.
    first_offset = models.BigIntegerField(null=True)
    next_offset = models.BigIntegerField(null=True)
    records_per_second = models.FloatField(null=True)
    #: [broker, bytes] of each replica whose broker has said.
    sizes = models.JSONField(default=list)

    #: Set by `with_eligible` of the room of topics (an EligibleWords), and no column.
    eligible: object

    class Meta:
        app_label = "topics"
        ordering = ["partition"]
        constraints = [models.UniqueConstraint(fields=["topic", "partition"], name="partition_of_topic")]

    def __str__(self) -> str:
        return f"{self.topic.name}-{self.partition}"

    @property
    def is_under_replicated(self) -> bool:
        return not set(self.replicas) <= {*self.isr, *self.adding}

    @property
    def copying(self) -> list[int]:
        """Brokers that a move gives a replica and that do not have all of it yet."""
        return [replica for replica in self.replicas if replica in self.adding and replica not in self.isr]

    @property
    def is_under_min_isr(self) -> bool:
        """Whether it is under min.insync.replicas, capped at the replication factor as since Kafka 3.7."""
        needed = min(self.topic.min_insync_replicas or 1, len(self.replicas))
        return self.leader is not None and len(self.isr) < needed

    @property
    def preferred_leader(self) -> int | None:
        """The first replica: Kafka gives it the leadership back when asked to balance."""
        return self.replicas[0] if self.replicas else None

    @property
    def is_led_by_preferred(self) -> bool:
        return self.leader is not None and self.leader == self.preferred_leader

    @property
    def isr_tone(self) -> str:
        """The colour beside the words of `isr_state`."""
        if self.leader is None or self.is_under_min_isr:
            return "critical"
        if self.is_under_replicated:
            return "warning"
        return "plain" if self.copying else "ok"

    @property
    def isr_state(self) -> str:
        if self.leader is None:
            return "offline"
        if self.is_under_min_isr:
            return f"{len(self.isr)} in sync, below min {self.topic.min_insync_replicas}"
        if self.is_under_replicated:
            return f"{len(self.isr)} of {len(self.replicas)} in sync"
        if self.copying:
            return f"in sync, copied to {', '.join(map(str, self.copying))}"
        return "all in sync"

    @property
    def replica_states(self) -> list[dict[str, object]]:
        """The replicas in assignment order with what each is at the moment."""
        sizes = dict(self.sizes)
        return [
            {
                "broker_id": broker_id,
                "is_leader": broker_id == self.leader,
                "is_in_sync": broker_id in self.isr,
                "is_copying": broker_id in self.copying,
                "size": sizes.get(broker_id),
            }
            for broker_id in self.replicas
        ]


#: What may be quiet at a time: more would be a list that nobody reads.
QUIET_MAX = 100
QUIET_KEY_LENGTH_MAX = 700
QUIET_WHY_LENGTH_MAX = 200


class QuietReason(models.Model):
    """An acknowledgement, mute or retirement of a reason of health, as in `quiet.Quiet`."""

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
