"""What takes a change back, kept from the moment it was made."""

from django.db import models

#: Of each object the newest are kept.
KEPT_PER_OBJECT = 20


class KeptInverse(models.Model):
    """`values` is what the app that made the change puts back; the audit keeps who, what and when for good."""

    at = models.DateTimeField(auto_now_add=True)
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=100)
    object_type = models.CharField(max_length=50)
    object_name = models.CharField(max_length=1_024)
    values = models.JSONField()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["object_type", "object_name"], name="inverse_object")]

    def __str__(self) -> str:
        return f"{self.action} of {self.object_name} by {self.actor_name}"
