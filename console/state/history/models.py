"""One row per change that somebody saw. The table is bounded: the oldest rows go first."""

from django.db import models

from console.state.history.kinds import TOPIC_KINDS as TOPIC_KINDS
from console.state.history.kinds import ChangeKind as ChangeKind
from console.state.history.links import address_of

#: Rows kept. A busy week, or a broker that comes and goes for a day.
ROWS_MAX = 100_000


class Change(models.Model):
    #: When it was seen, ms since the epoch: about a second after it happened, later if nobody was looking.
    at_ms = models.BigIntegerField(db_index=True)
    kind = models.CharField(max_length=12, choices=ChangeKind)
    #: Names of groups may be longer than those of topics.
    object_name = models.CharField(max_length=1_024)
    partition = models.IntegerField(null=True)
    sentence = models.CharField(max_length=700)
    #: The colour beside the words: plain, ok, warning, critical.
    tone = models.CharField(max_length=10)
    #: A topic that the sentence names besides its object; empty: none.
    topic = models.CharField(max_length=249, blank=True)
    #: By name, [old, new] of what was set; None without values.
    values = models.JSONField(null=True)
    #: The row of the audit that says who did it from the console, and that person; None and empty: not known.
    audit_id = models.BigIntegerField(null=True)
    person = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-at_ms", "-id"]
        indexes = [
            models.Index(fields=["object_name", "-at_ms"], name="history_object"),
            models.Index(fields=["-at_ms"], name="history_unclean", condition=models.Q(kind="unclean")),
            models.Index(fields=["topic", "-at_ms"], name="history_topic", condition=~models.Q(topic="")),
            models.Index(fields=["audit_id"], name="history_audit", condition=models.Q(audit_id__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.sentence

    @property
    def address(self) -> str:
        """Return the address of its object's page; empty: it has none."""
        return address_of(self.kind, self.object_name)


class Baseline(models.Model):
    """What settings, rules or quotas were when they were last read, so that a change while nothing ran is seen."""

    kind = models.CharField(max_length=12, choices=ChangeKind, unique=True)
    #: By object, its values by name.
    state = models.JSONField()

    def __str__(self) -> str:
        return self.kind
