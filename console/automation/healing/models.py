"""How far healing goes for each kind, and the queue of what is proposed: open ones, and the newest that are over."""

from django.db import models

from console.automation.healing.kinds import DEFAULTS, WORDS, HealingMode, TroubleKind, TroubleRule
from console.kit.common.account_key import AccountKey
from console.kit.common.kept_statements import kept_rows

#: Proposals that are over and still listed; what was done stays in the audit.
KEPT = 100


class HealingRule(models.Model):
    """An operator's setting for one kind of proposal; without a row the default applies."""

    kind = models.CharField(max_length=12, unique=True)
    mode = models.CharField(max_length=8, default=HealingMode.PROPOSE.value)
    minutes = models.IntegerField()
    limit = models.IntegerField(default=0)
    rate = models.BigIntegerField()
    #: In whose name it acts.
    actor = AccountKey()
    actor_name = models.CharField(max_length=150)
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.kind}: {self.mode}"

    @property
    def rule(self) -> TroubleRule:
        return TroubleRule(TroubleKind(self.kind), HealingMode(self.mode), self.minutes, self.limit, self.rate)


def kept_rules() -> dict[TroubleKind, HealingRule]:
    return {TroubleKind(row.kind): row for row in kept_rows(_rules_of_kinds)}


def _rules_of_kinds() -> models.QuerySet[HealingRule]:
    return HealingRule.objects.filter(kind__in=list(TroubleKind))


def rules_now() -> dict[TroubleKind, TroubleRule]:
    kept = kept_rules()
    return {kind: kept[kind].rule if kind in kept else DEFAULTS[kind] for kind in TroubleKind}


class Proposal(models.Model):
    class State(models.TextChoices):
        OPEN = "open"
        DONE = "done"
        DISMISSED = "dismissed"
        WITHDRAWN = "withdrawn"
        EXPIRED = "expired"

    kind = models.CharField(max_length=12)
    #: The trouble, by a name it has as long as it lasts.
    cause = models.CharField(max_length=60)
    #: The broker it is about; None: all.
    subject = models.IntegerField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    reason = models.CharField(max_length=300)
    #: What carrying it out would come to when it was made, and what became of it.
    outlook = models.CharField(max_length=300)
    sentence = models.CharField(max_length=500, blank=True)
    made_at_ms = models.BigIntegerField()
    expires_at_ms = models.BigIntegerField()
    #: When it was tried without a person; None: it was not.
    tried_at_ms = models.BigIntegerField(null=True)
    ended_at_ms = models.BigIntegerField(null=True)
    #: Who confirmed or dismissed it, or in whose name it was done.
    actor_name = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["cause"], condition=models.Q(state="open"), name="one_open_proposal_of_a_cause"
            )
        ]

    def __str__(self) -> str:
        return f"{self.cause}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def title(self) -> str:
        return WORDS[TroubleKind(self.kind)].trouble

    @property
    def tone(self) -> str:
        return {"open": "warning", "done": "ok"}.get(self.state, "plain")


class HealingState(models.Model):
    """One row: what the last look found that is no proposal."""

    looked_at_ms = models.BigIntegerField(default=0)
    #: [kind, sentence, due at ms], and [kind, why nothing is proposed].
    waiting = models.JSONField(default=list)
    held = models.JSONField(default=list)

    def __str__(self) -> str:
        return "healing"
