"""Topics and partitions as last seen; the sums a list sorts by are stored, so that it sorts in the database."""

from django.db import models


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
    #: When the collector last saw records arrive, ms since the epoch; 0: never.
    last_record_at_ms = models.BigIntegerField(default=0)
    #: Unknown until the cluster has said.
    retention_ms = models.BigIntegerField(null=True)
    cleanup_policy = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def deletes_by_age(self) -> bool:
        return "delete" in self.cleanup_policy


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

    class Meta:
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
        return [each for each in self.replicas if each in self.adding and each not in self.isr]

    @property
    def is_under_min_isr(self) -> bool:
        """As brokers count since Kafka 3.7: the minimum is never more than there are replicas."""
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
    def replica_states(self) -> list[dict]:
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
