"""What each stream job last said of itself, kept for pages: its own file lies on its host."""

from django.db import models

from console.processes.models import ManagedProcess


class StreamProgress(models.Model):
    """`facts` is the driver's progress.json."""

    process = models.OneToOneField(ManagedProcess, on_delete=models.CASCADE, related_name="progress")
    facts = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"progress of {self.process}"
