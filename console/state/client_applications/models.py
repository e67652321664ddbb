"""What clients write and read, as the collector last saw it, all brokers together."""

from typing import ClassVar

from django.db import models


class ClientTraffic(models.Model):
    """One client, one topic, one direction. With an empty principal: the clients that brokers count together."""

    principal = models.TextField(blank=True)
    client_id = models.TextField(blank=True)
    host = models.TextField(blank=True)
    software_name = models.CharField(max_length=64, blank=True)
    software_version = models.CharField(max_length=64, blank=True)
    topic = models.CharField(max_length=249, db_index=True)
    is_produce = models.BooleanField()
    records_per_second = models.FloatField()
    bytes_per_second = models.FloatField()
    used_at_ms = models.BigIntegerField()
    #: Ids of the brokers that tell of it.
    brokers = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar[list[str]] = ["-records_per_second", "-used_at_ms", "client_id", "topic"]

    def __str__(self) -> str:
        return f"{self.client_id} {'writes' if self.is_produce else 'reads'} {self.topic}"


class ClientLook(models.Model):
    """The one row says what the last look came to."""

    at_ms = models.BigIntegerField(default=0)
    #: Whether any broker tells; None: none has been asked yet.
    is_told = models.BooleanField(null=True)
    #: Ids of brokers that do not tell while others do.
    silent = models.JSONField(default=list)
    #: Rows beyond those that are kept.
    left_out = models.IntegerField(default=0)
    #: Why brokers were not asked.
    error = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.error or "clients are known"
