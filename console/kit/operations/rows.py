"""Writing the row of an operation: locked, if it is still as it was seen; audited, and pushed to those who look."""

import logging
from collections.abc import Callable, Mapping

from django.contrib.auth.models import User
from django.utils import timezone

from console.kit.access.read_only import why_read_only
from console.kit.audit.record import record_event
from console.kit.common.databases import cluster_atomic
from console.kit.live.push import push_partial
from console.kit.operations.models import Operation

logger = logging.getLogger(__name__)
State = Operation.State
#: What the system does to one whose state a beat changes.
_VERBS = {State.PAUSED: "pause", State.DONE: "finish", State.CALLED_OFF: "end called-off"}
#: Columns that say more in the row than in the audit.
_UNAUDITED = frozenset({"sentence", "actor"})


def change(
    actor: User, operation: Operation, verb: str, values: Mapping[str, object], when: Callable[[Operation], bool]
) -> bool:
    """Write `values` (by column) in the name of `actor`; False if it is not as `when` wants it any more."""
    with cluster_atomic():
        locked = _lock(operation)
        if not when(locked):
            return False
        audited = [name for name in values if name not in _UNAUDITED]
        before = {name: getattr(locked, name) for name in audited}
        _write(locked, values)
        record_event(actor, f"{verb} {locked.noun}", *locked.audited, before, {name: values[name] for name in audited})
        push_operation(locked)
    return True


def settle(operation: Operation, values: Mapping[str, object], also: Callable[[], object] | None = None) -> None:
    """Write what a beat came to (by column), unless somebody was quicker: it was called off meanwhile, say.

    No sentence: the last one holds. `also` is done in the same transaction; it returns whether a page shows it.
    """
    with cluster_atomic():
        locked = _lock(operation)
        was = locked.state
        if was != operation.state or not locked.is_open:
            return
        is_seen = also is not None and also()
        if not _write(locked, {**values, "sentence": values["sentence"] or locked.sentence}) and not is_seen:
            return
        if locked.state != was:
            action, states = f"{_VERBS[State(locked.state)]} {locked.noun}", ({"state": was}, {"state": locked.state})
            record_event(None, action, *locked.audited, *states, detail=locked.sentence)
        logger.info("%s: %s", locked, locked.sentence)
        push_operation(locked)


def push_operation(operation: Operation) -> None:
    """Push the operation to its viewers, with buttons also in read-only mode."""
    read_only = why_read_only()
    for can_operate in (True, False):
        context = {"operation": operation, **operation.shown, "read_only": read_only}
        context |= {"can_operate": can_operate and not read_only, "can_brake": can_operate}
        push_partial(operation.group(can_operate), operation.TEMPLATE, context)


def _lock(operation: Operation) -> Operation:
    return type(operation)._default_manager.select_for_update().get(pk=operation.pk)


def _write(locked: Operation, values: Mapping[str, object]) -> list[str]:
    """Write the values and return the columns that changed."""
    values = {**values, "sentence": str(values["sentence"])[:500]}
    changed = [name for name, value in values.items() if getattr(locked, name) != value]
    for name in changed:
        setattr(locked, name, values[name])
    if "state" in changed and not locked.is_open:
        locked.ended_at = timezone.now()
        changed.append("ended_at")
    if changed:
        locked.save(update_fields=changed)
    return changed
