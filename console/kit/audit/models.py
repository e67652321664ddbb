"""One row per action on the cluster or its processes. Rows are written once, sealed into a chain and never changed."""

from typing import NoReturn

from django.conf import settings
from django.db import models

from console.kit.audit.chain import ChainLink


class WrittenOnce(models.QuerySet["AuditEvent"]):
    """Refuses what would change many rows at once; a deleted account still lets go of its rows."""

    def update(self, **fields: object) -> NoReturn:
        raise TypeError("an audit event is written once and never changed")

    def delete(self) -> NoReturn:
        raise TypeError("an audit event is never deleted")


class AuditEvent(models.Model):
    at = models.DateTimeField(db_index=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    #: The name at that time: it stays when the user is deleted; `system` when no person acted.
    actor_name = models.CharField(max_length=150)
    #: The account at that time: `actor` lets go of one that is deleted, this does not.
    actor_number = models.BigIntegerField(null=True)
    #: Whom a provider of single sign-on knew the actor as, at that time: subject and issuer.
    actor_identity = models.CharField(max_length=600, blank=True)
    #: Where it was done: the name of a cluster, empty for the first.
    cluster = models.CharField(max_length=40, blank=True)
    action = models.CharField(max_length=100)
    object_type = models.CharField(max_length=50)
    object_name = models.CharField(max_length=255)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    #: done, refused, failed
    result = models.CharField(max_length=20)
    detail = models.TextField(blank=True)
    #: The chain (`audit/chain.py`): the seal of the row before, and of this one.
    previous_seal = models.CharField(max_length=64, blank=True)
    seal = models.CharField(max_length=64)
    #: How it was sealed; rows of version 1 have no `actor_number`, before version 3 no `actor_identity`,
    #: before version 4 no `cluster`.
    version = models.PositiveSmallIntegerField(default=1)

    objects = WrittenOnce.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["object_type", "object_name"], name="audit_object")]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.object_name}: {self.result}"

    def save(self, *args: object, **kwargs: object) -> None:
        if self.pk is not None:
            raise TypeError("an audit event is written once and never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("an audit event is never deleted")

    @property
    def link(self) -> ChainLink:
        return ChainLink(
            id=self.pk,
            at=self.at,
            actor_name=self.actor_name,
            action=self.action,
            object_type=self.object_type,
            object_name=self.object_name,
            before=self.before,
            after=self.after,
            result=self.result,
            detail=self.detail,
            previous_seal=self.previous_seal,
            seal=self.seal,
            version=self.version,
            actor_number=self.actor_number,
            actor_identity=self.actor_identity,
            cluster=self.cluster,
            account=self.actor_id,
        )


class AuditEnd(models.Model):
    """One row: the newest seal and the number of rows. Appending locks it, so the chain never forks."""

    seal = models.CharField(max_length=64, blank=True)
    count = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.count} rows, {self.seal}"


class Tally(models.Model):
    """What one person did again and again within a minute; with the minute over it becomes one row of the audit."""

    minute = models.DateTimeField(db_index=True)
    #: 0: nobody who is logged in.
    actor_number = models.BigIntegerField(default=0)
    #: As of the audit's rows.
    cluster = models.CharField(max_length=40, blank=True)
    action = models.CharField(max_length=100)
    object_type = models.CharField(max_length=50)
    object_name = models.CharField(max_length=255)
    #: Where it came from: an address or the network around it.
    place = models.CharField(max_length=50, blank=True)
    result = models.CharField(max_length=20)
    times = models.PositiveIntegerField(default=1)
    #: Of records that were read, the partitions.
    first_partition = models.IntegerField(null=True)
    last_partition = models.IntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["minute", "actor_number", "cluster", "action", "object_type", "object_name", "place"],
                name="one_tally",
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_name} x {self.times}"
