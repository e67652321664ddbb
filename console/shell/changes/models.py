"""Rules of changes, and the changes that wait for somebody. Both are bounded."""

from datetime import datetime

from django.db import models

from console.kit.common.account_key import AccountKey

#: Waiting at once, of everybody and of one person.
WAITING_MAX, WAITING_OF_ONE_MAX = 200, 30
#: Names kept of what one is about; whoever may not see everything is shown none that has so many.
ABOUT_MAX = 500
#: Of those that are over, kept to be looked at; the audit keeps them for good.
OVER_KEPT = 1_000
#: A form that holds more waits for nobody.
FORM_LENGTH_MAX = 2 * 1024 * 1024


class ChangeRule(models.Model):
    """`definition`: what `rules.parse_rule` reads."""

    name = models.CharField(max_length=60, unique=True)
    definition = models.JSONField(default=dict)
    actor_name = models.CharField(max_length=150)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ProposedChange(models.Model):
    """Who asked for what, with the request that makes its plan again; no secret is in it."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DOING = "doing", "being carried out"
        DONE = "done", "done"
        DISCARDED = "discarded", "discarded"
        EXPIRED = "expired", "expired"

    at = models.DateTimeField()
    expires_at = models.DateTimeField()
    actor = AccountKey()
    actor_name = models.CharField(max_length=150)
    reason = models.CharField(max_length=500, blank=True)
    #: Why it waits, and by which rules.
    sentence = models.CharField(max_length=2_000)
    rules = models.JSONField(default=list)
    needs_person = models.BooleanField(default=True)
    action = models.CharField(max_length=100)
    object_type = models.CharField(max_length=50)
    object_name = models.CharField(max_length=1_024)
    #: Names of what it is about.
    about = models.JSONField(default=list)
    path = models.CharField(max_length=4_096)
    query = models.JSONField(default=list)
    #: Sealed (`kept_form.py`) while it waits; empty when it is over.
    form = models.JSONField(default=list)
    #: Of the plan as it was proposed, the digest that is nobody's.
    content = models.CharField(max_length=64)
    #: [name, old, new] of what was to change, as it was proposed.
    lines = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=150, blank=True)
    #: What came of it, or why it could not be carried out so far.
    outcome = models.CharField(max_length=2_000, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "expires_at"], name="proposed_waiting")]

    def __str__(self) -> str:
        return f"{self.pk}: {self.action} {self.object_name} by {self.actor_name}"

    @property
    def is_waiting(self) -> bool:
        return self.state == self.State.WAITING

    def is_over_at(self, now: datetime) -> bool:
        return self.is_waiting and now >= self.expires_at
