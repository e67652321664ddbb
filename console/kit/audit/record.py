"""The one way to write an audit event. Called inside the transaction of the change, so both are kept or neither."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import timedelta
from functools import cache

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from console.kit.access.identities import identity_text
from console.kit.access.rights import Person
from console.kit.audit.chain import VERSION, ChainEnd, ChainLink, seal_of
from console.kit.audit.models import AuditEnd, AuditEvent
from console.kit.audit.seal_log import testify
from console.kit.audit.sealed_end import move_end
from console.kit.common.current_cluster import current_cluster, is_main
from console.kit.common.names import ANONYMOUS, RESERVED_NAMES, SYSTEM
from console.kit.common.secret_files import load_or_create_secret

DETAIL_LENGTH_MAX = 2_000
#: The one row of AuditEnd.
THE_END = 1
_FIRST_MINUTE = timedelta(minutes=1)
_KEY_FILE = "audit-chain-key"


def record_event(
    actor: Person | None,
    action: str,
    object_type: str,
    object_name: str,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    result: str = "done",
    detail: str = "",
) -> AuditEvent:
    """Write that `actor` (a user, AnonymousUser, or None for the system) did `action`; `before` and `after` hold the
    changed values.

    `result` is done, refused or failed; `detail` is a sentence. Secrets have no place in any of them.
    """
    link = ChainLink(
        id=0,
        at=timezone.now(),
        actor_name=name_of(actor),
        action=action,
        object_type=object_type,
        object_name=object_name,
        before=_as_stored(before),
        after=_as_stored(after),
        result=result,
        detail=detail[:DETAIL_LENGTH_MAX],
        previous_seal="",
        version=VERSION,
        actor_number=None if actor is None else actor.pk,
        actor_identity=identity_text(actor),
        cluster=cluster_audited(),
    )
    return _append(link)


def cluster_audited() -> str:
    """Return the current cluster's name in rows of the audit."""
    return "" if is_main() else current_cluster()


def name_of(actor: Person | None) -> str:
    """Return the actor's name; an account with a reserved name is marked, to tell it from the system."""
    if actor is None:
        return SYSTEM
    name = actor.get_username() or ANONYMOUS
    return f"{name} (account {actor.pk})" if actor.pk and name.strip().casefold() in RESERVED_NAMES else name


@transaction.atomic
def _append(link: ChainLink) -> AuditEvent:
    AuditEnd.objects.get_or_create(pk=THE_END)
    end = AuditEnd.objects.select_for_update().get(pk=THE_END)
    link = replace(link, previous_seal=end.seal)
    fields = {name: value for name, value in asdict(link).items() if name not in ("id", "seal", "account")}
    event = AuditEvent.objects.create(actor_id=link.actor_number, seal=seal_of(link, chain_key()), **fields)
    end.seal, end.count = event.seal, end.count + 1
    end.save()
    kept = ChainEnd(end.seal, end.count)
    transaction.on_commit(lambda: _keep_end(kept, link), robust=True)
    return event


def _keep_end(end: ChainEnd, link: ChainLink) -> None:
    """Keep the end of the chain, after the commit: a rolled back row never was the end."""
    testify(end, link.at.isoformat())
    move_end(end, chain_key(), link.previous_seal, lambda seal: AuditEvent.objects.filter(seal=seal).exists(), _is_new)


def _is_new() -> bool:
    first = AuditEvent.objects.order_by("id").values_list("at", flat=True).first()
    return first is None or timezone.now() - first < _FIRST_MINUTE


def has_chain_key() -> bool:
    """Return whether a row was ever sealed here."""
    return (settings.SECRETS_DIR / _KEY_FILE).exists()


@cache
def chain_key() -> bytes:
    """Return the chain's key, made on first use. Without this file the rows stay readable, but nothing proves them any
    more.
    """
    return load_or_create_secret(settings.SECRETS_DIR / _KEY_FILE).encode()


def _as_stored(values: Mapping[str, object] | None) -> dict[str, object] | None:
    """Return the values as they are read back from JSON: keys are texts, tuples are lists."""
    return None if values is None else json.loads(json.dumps(values))
