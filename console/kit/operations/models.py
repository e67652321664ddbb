"""What every operation has: who asked for it, how far it is, when it ended, and one sentence on what it waits for.

Its row is all that is remembered of it: a worker that dies is followed by one that goes on from there.
"""

from typing import Any

from django.db import models

from console.kit.common.account_key import AccountKey
from console.kit.live import groups
from console.kit.plans.plan import Plan


class Operation(models.Model):
    """One kind of operation is a subclass; `advance(operation)` in `advance` beside it takes the next step."""

    class State(models.TextChoices):
        RUNNING = "running"
        PAUSED = "paused"
        DONE = "done"
        CALLED_OFF = "called off"

    #: Its rows may be of any cluster; else they are of the first, whose processes are managed here.
    in_every_cluster = False
    #: What is pushed to those in `group` when a row changes, with `operation` and `shown`.
    TEMPLATE: str
    group = staticmethod(groups.processes)

    state = models.CharField(max_length=12, choices=State, default=State.RUNNING)
    sentence = models.CharField(max_length=500, blank=True)
    #: In whose name it goes on.
    actor = AccountKey()
    #: Of who began it, at that time: it stays when the user is deleted.
    actor_name = models.CharField(max_length=150)
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.noun} {self.pk}"

    @classmethod
    def open_ones(cls) -> models.QuerySet[Any]:
        """Return the operations that run or can be resumed, oldest first."""
        return cls._default_manager.filter(state__in=OPEN).order_by("id")

    @classmethod
    def to_advance(cls) -> models.QuerySet[Any]:
        """Return the operations that the beat has to advance now or later."""
        return cls.open_ones()

    @property
    def noun(self) -> str:
        """The operation's noun in the log and the audit."""
        return str(self._meta.verbose_name)

    @property
    def whose(self) -> str:
        """In whose name the operation runs: who resumed it last, or else began it."""
        return self.actor.get_username() if self.actor else self.actor_name

    @property
    def audited(self) -> tuple[str, str]:
        """Type and name of what it changes, as the audit calls it."""
        raise NotImplementedError

    @property
    def resumed(self) -> tuple[Plan, ...]:
        """What a resumption carries out, for rules of changes: action and names."""
        return ()

    @property
    def shown(self) -> dict[str, object]:
        """The template's variables besides `operation`, for people who see everything."""
        return {}

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def can_be_called_off(self) -> bool:
        return self.is_open

    @property
    def word(self) -> str:
        """The state in one word."""
        return str(self.state)

    @property
    def tone(self) -> str:
        return {"paused": "warning", "done": "ok", "called off": "plain"}.get(self.state, "busy")


OPEN = (Operation.State.RUNNING, Operation.State.PAUSED)


def one_open(name: str, *of: str) -> models.UniqueConstraint:
    """Return the constraint of at most one open operation, or one for each value `of` a column."""
    return models.UniqueConstraint(*(of or (models.Value(1),)), condition=models.Q(state__in=list(OPEN)), name=name)
