"""Alerts as they stand, silences, and what is sent of them. All of it is bounded."""

from django.db import models

from console.cluster.charts.measures import NAME_LENGTH_MAX
from console.signals.alerts.evaluation import AlertEvent, AlertPhase

#: Alerts that are over, and deliveries that are done, kept to be looked at.
HISTORY_MAX = 5_000
SENTENCE_LENGTH_MAX = 1_000


class Alert(models.Model):
    """A rule and one object that breaks it. Moments in ms since the epoch."""

    rule = models.CharField(max_length=60)
    object_name = models.CharField(max_length=NAME_LENGTH_MAX)
    state = models.CharField(max_length=10, choices=[(item.value, item.value) for item in AlertPhase])
    severity = models.CharField(max_length=10)
    sentence = models.CharField(max_length=SENTENCE_LENGTH_MAX)
    #: Where in the console there is more of it, without the host.
    link = models.CharField(max_length=2_000, blank=True)
    since_ms = models.BigIntegerField()
    seen_ms = models.BigIntegerField()
    fired_ms = models.BigIntegerField(null=True)
    fine_since_ms = models.BigIntegerField(null=True)
    notified_ms = models.BigIntegerField(null=True)
    is_escalated = models.BooleanField(default=False)
    acknowledged_by = models.CharField(max_length=150, blank=True)
    acknowledged_until_ms = models.BigIntegerField(null=True)

    class Meta:
        ordering = ["-since_ms", "rule", "object_name"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "object_name"], condition=~models.Q(state="resolved"), name="one_open_alert"
            )
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.object_name}"


class KeptRule(models.Model):
    """A rule that was made on the page: what it would say in the file. Channels, which hold secrets, stay there."""

    name = models.CharField(max_length=60, unique=True)
    definition = models.JSONField(default=dict)
    actor_name = models.CharField(max_length=150)
    changed_ms = models.BigIntegerField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class RuleSilence(models.Model):
    """Nothing is told of a rule until then; its alerts are still shown."""

    rule = models.CharField(max_length=60, unique=True)
    until_ms = models.BigIntegerField()
    actor_name = models.CharField(max_length=150)
    why = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"{self.rule} until {self.until_ms}"


class Delivery(models.Model):
    """One message to one channel; waits until it was taken, or for a day."""

    class Result(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENT = "sent", "sent"
        FAILED = "failed", "failed"

    channel = models.CharField(max_length=60)
    rule = models.CharField(max_length=60)
    event = models.CharField(max_length=20, choices=[(item.value, item.value) for item in AlertEvent])
    #: messages.Message as JSON.
    message = models.JSONField()
    result = models.CharField(max_length=10, choices=Result, default=Result.WAITING)
    created_ms = models.BigIntegerField()
    due_ms = models.BigIntegerField()
    sent_ms = models.BigIntegerField(null=True)
    tries = models.IntegerField(default=0)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-created_ms", "-id"]
        indexes = [models.Index(fields=["result", "due_ms"], name="delivery_due")]

    def __str__(self) -> str:
        return f"{self.event} {self.rule} to {self.channel}: {self.result}"
