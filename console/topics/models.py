"""Topics and partitions as last seen; the sums a list sorts by are stored, so that it sorts in the database."""

from django.db import models


class Topic(models.Model):
    name = models.CharField(max_length=249, unique=True)
    topic_id = models.CharField(max_length=36, blank=True)
    is_internal = models.BooleanField(default=False)
    partition_count = models.IntegerField(default=0)
    replication_factor = models.IntegerField(default=0)
    under_replicated_count = models.IntegerField(default=0)
    leaderless_count = models.IntegerField(default=0)
    #: Sum over partitions of next offset - first offset: an upper bound of the records (compaction leaves gaps).
    record_count = models.BigIntegerField(default=0)
    records_per_second = models.FloatField(null=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Partition(models.Model):
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="partitions")
    partition = models.IntegerField()
    #: None: no leader.
    leader = models.IntegerField(null=True)
    leader_epoch = models.IntegerField(null=True)
    replicas = models.JSONField(default=list)
    isr = models.JSONField(default=list)
    #: The last known ones; None: never answered.
    first_offset = models.BigIntegerField(null=True)
    next_offset = models.BigIntegerField(null=True)
    records_per_second = models.FloatField(null=True)

    class Meta:
        ordering = ["partition"]
        constraints = [models.UniqueConstraint(fields=["topic", "partition"], name="partition_of_topic")]

    def __str__(self) -> str:
        return f"{self.topic.name}-{self.partition}"

    @property
    def is_under_replicated(self) -> bool:
        return len(self.isr) < len(self.replicas)

    @property
    def replica_states(self) -> list[dict]:
        """The replicas in assignment order with what each is at the moment."""
        return [
            {"broker_id": broker_id, "is_leader": broker_id == self.leader, "is_in_sync": broker_id in self.isr}
            for broker_id in self.replicas
        ]
