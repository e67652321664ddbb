"""One row per action on the cluster or its processes. Rows are written once and never changed."""

from django.conf import settings
from django.db import models


class AuditEvent(models.Model):
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    #: The name at that time: it stays when the user is deleted; `system` when no person acted.
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=100)
    object_type = models.CharField(max_length=50)
    object_name = models.CharField(max_length=255)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    #: done, refused, failed
    result = models.CharField(max_length=20)
    detail = models.TextField(blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["object_type", "object_name"], name="audit_object")]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.object_name}: {self.result}"

    def save(self, *args, **kwargs) -> None:
        if self.pk is not None:
            raise TypeError("an audit event is written once and never changed")
        super().save(*args, **kwargs)

    def delete(self, *args, **kwargs):
        raise TypeError("an audit event is never deleted")
