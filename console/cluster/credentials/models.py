"""Users with a SCRAM credential, as the collector last saw them. Nothing that a password comes to is here."""

from django.db import models

from console.kit.gateway.credentials.interface import MECHANISMS, USER_LENGTH_MAX


class ScramUser(models.Model):
    name = models.CharField(max_length=USER_LENGTH_MAX, unique=True)
    #: Mechanism → iterations.
    mechanisms = models.JSONField(default=dict)
    #: Access rules that name the user; None: the cluster has none, or does not tell.
    rule_count = models.IntegerField(null=True)
    #: How often this console has given a password: what was confirmed once is another plan the next time.
    passwords_given = models.IntegerField(default=0)

    #: Set by `with_quotas`, and no column.
    quota_count: int

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def in_order(self) -> list[tuple[str, int]]:
        return [(name, self.mechanisms[name]) for name in MECHANISMS if name in self.mechanisms]


class CredentialsLook(models.Model):
    """One row: when users were last listed, and why not since, with Kafka's error code if there is one."""

    at_ms = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    code = models.CharField(max_length=60, blank=True)

    def __str__(self) -> str:
        return self.error or "users are known"
