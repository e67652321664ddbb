"""Read-only mode: nothing is changed, in the whole console or in the cluster, until it is ended; and who said so.

What is under way goes on: stopping half-way through would be a change too.
"""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string

from console.access.models import ReadOnlyMode
from console.audit.record import SYSTEM
from console.clusters.models import DEFAULT_CLUSTER
from console.gateway.errors import RefusedError
from console.live import groups
from console.live.clock import now_ms
from console.live.push import send_now
from console.plans.apply import carry_out
from console.plans.plan import Confirmation, Line, Plan

CONSOLE = "console"
CLUSTER = f"cluster {DEFAULT_CLUSTER}"
SCOPES = {CONSOLE: "the whole console", CLUSTER: "the cluster"}
REASON_LENGTH_MAX = 200


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """Why nothing under `scope` may be changed. Without `since` it was so from the console's start on."""

    scope: str
    by_name: str
    since: datetime | None = None
    reason: str = ""

    def __str__(self) -> str:
        when = f"since {self.since:%Y-%m-%d %H:%M} UTC by {self.by_name}" if self.since else "by its settings"
        why = f": {self.reason}" if self.reason else "."
        return f"{SCOPES[self.scope].capitalize()} is read-only {when}{why}"


def read_only_now() -> dict[str, ReadOnly]:
    """What is read-only, by scope."""
    found = {row.scope: ReadOnly(row.scope, row.by_name, row.since, row.reason) for row in ReadOnlyMode.objects.all()}
    if settings.READ_ONLY:
        found[CONSOLE] = ReadOnly(CONSOLE, SYSTEM)
    return {scope: found[scope] for scope in SCOPES if scope in found}


def why_read_only() -> str:
    """A sentence if the cluster must not be changed now; otherwise nothing."""
    return next((str(each) for each in read_only_now().values()), "")


def switch_plan(scope: str, now: ReadOnly | None) -> Plan:
    """To end it if it is read-only, otherwise to begin."""
    ends = now is not None
    return Plan(
        action="end read-only" if ends else "begin read-only",
        object_type=scope.partition(" ")[0],
        object_name=SCOPES[scope],
        lines=(Line("read-only", ends, not ends),),
        read=(scope, repr(now)),
        touches=_ENDING if ends else _BEGINNING,
        undo="begin it again." if ends else "end it here.",
        obstacle=_FROM_SETTINGS if ends and now.since is None else "",
    )


_BEGINNING = (
    "Every change is refused until it is ended.",
    "What is under way goes on, and a rolling restart can still be paused.",
)
_ENDING = ("Changes are possible again for who may make them.",)
_FROM_SETTINGS = "BARNABAS_READ_ONLY was set when the console was started; only a start without it ends it."


def do_switch_read_only(actor, scope: str, plan: Plan, reason: str, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, RefusedError."""

    def switch() -> None:
        try:
            with transaction.atomic():
                if plan.lines[0].new:
                    ReadOnlyMode.objects.create(scope=scope, by_name=actor.get_username(), reason=reason)
                else:
                    ReadOnlyMode.objects.filter(scope=scope).delete()
        except IntegrityError as error:
            raise RefusedError("READ_ONLY", "Somebody else was quicker.") from error
        html = render_to_string("live/resync.html", {"version": now_ms()})
        transaction.on_commit(lambda: send_now([(groups.HEARTBEAT, html)]))

    carry_out(actor, plan, confirmation, switch)
