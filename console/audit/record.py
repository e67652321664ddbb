"""The one way to write an audit event. Called inside the transaction of the change, so both are kept or neither."""

import json
from dataclasses import replace
from functools import cache

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from console.audit.chain import Link, seal_of
from console.audit.models import AuditEnd, AuditEvent
from console.secret_files import load_or_create_secret

SYSTEM = "system"
DETAIL_LENGTH_MAX = 2_000
#: The one row of AuditEnd.
THE_END = 1


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
    link = Link(
        id=0,
        at=timezone.now(),
        actor_name=actor.get_username() if actor is not None else SYSTEM,
        action=action,
        object_type=object_type,
        object_name=object_name,
        before=_as_stored(before),
        after=_as_stored(after),
        result=result,
        detail=detail[:DETAIL_LENGTH_MAX],
        previous_seal="",
    )
    return _append(link, actor if actor is not None and actor.pk else None)


@transaction.atomic
def _append(link: Link, actor) -> AuditEvent:
    AuditEnd.objects.get_or_create(pk=THE_END)
    end = AuditEnd.objects.select_for_update().get(pk=THE_END)
    link = replace(link, previous_seal=end.seal)
    fields = {name: getattr(link, name) for name in Link.__slots__ if name not in ("id", "seal")}
    event = AuditEvent.objects.create(actor=actor, seal=seal_of(link, chain_key()), **fields)
    end.seal, end.count = event.seal, end.count + 1
    end.save()
    return event


@cache
def chain_key() -> bytes:
    """Made on first use. Without this file the rows stay readable, but nothing proves them any more."""
    return load_or_create_secret(settings.SECRETS_DIR / "audit-chain-key").encode()


def _as_stored(values: dict | None) -> dict | None:
    """As it will be read back: keys are texts, tuples are lists."""
    return None if values is None else json.loads(json.dumps(values))
