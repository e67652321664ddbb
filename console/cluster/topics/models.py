"""Topics that shall be deleted after a day of grace, and what became of those of which that was said."""

from django.db import models

from console.kit.common.account_key import AccountKey

#: Open at once in a cluster; of those that are over, kept to be looked at. The audit keeps them for good.
OPEN_MAX, OVER_KEPT = 2_000, 500
WAITING, DOING, KEPT, DELETED, CALLED_OFF = "waiting", "doing", "kept", "deleted", "called off"
_WORDS = {WAITING: "will be deleted", DOING: "is being deleted", KEPT: KEPT, DELETED: DELETED, CALLED_OFF: CALLED_OFF}
#: It goes, or somebody has to say what becomes of it.
OPEN = (WAITING, DOING, KEPT)
#: Nothing has happened to the topic, so it can be called off.
UNTOUCHED = (WAITING, KEPT)
GOING = (WAITING, DOING)


class PlannedDeletion(models.Model):
    """`ends` and `places` are what the topic's use had come to by then (`grace.Traces`)."""

    topic = models.CharField(max_length=249)
    topic_id = models.CharField(max_length=36)
    at = models.DateTimeField()
    due_at = models.DateTimeField()
    #: In whose name it is deleted, and who approved it, if it needed somebody.
    actor = AccountKey()
    actor_name = models.CharField(max_length=150)
    approver = AccountKey()
    record_count = models.BigIntegerField()
    size_bytes = models.BigIntegerField()
    #: By partition the next offset; by group the sum of what it had committed.
    ends = models.JSONField()
    places = models.JSONField()
    state = models.CharField(max_length=10, choices=list(_WORDS.items()), default=WAITING)
    #: Why it was kept, or what became of it; names no group.
    outcome = models.CharField(max_length=1_000, blank=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "due_at"], name="planned_deletion_due")]
        constraints = [
            models.UniqueConstraint(
                fields=["topic"],
                condition=models.Q(state__in=list(OPEN)),
                name="planned_deletion_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic}: {self.state}"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def is_kept(self) -> bool:
        return self.state == KEPT

    @property
    def tone(self) -> str:
        return {WAITING: "warning", DOING: "busy", KEPT: "critical", DELETED: "plain"}.get(self.state, "ok")
