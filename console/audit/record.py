"""The one way to write an audit event. Called inside the transaction of the change, so both are kept or neither."""

from console.audit.models import AuditEvent

SYSTEM = "system"
DETAIL_LENGTH_MAX = 2_000


def record_event(
    actor,
    action: str,
    object_type: str,
    object_name: str,
    before: dict | None = None,
    after: dict | None = None,
    result: str = "done",
    detail: str = "",
) -> AuditEvent:
    """Write that `actor` (a user, or None for the system) did `action`; `before` and `after` hold the changed values.

    `result` is done, refused or failed; `detail` is a sentence. Secrets have no place in any of them.
    """
    return AuditEvent.objects.create(
        actor=actor if actor is not None and actor.pk else None,
        actor_name=actor.get_username() if actor is not None else SYSTEM,
        action=action,
        object_type=object_type,
        object_name=object_name,
        before=before,
        after=after,
        result=result,
        detail=detail[:DETAIL_LENGTH_MAX],
    )
