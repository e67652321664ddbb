"""The change of an entity's quotas as a plan: what counts instead, who is slowed or freed by it now. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from console.cluster.quotas.amounts import amount, exact, label
from console.cluster.quotas.models import ObservedQuotaUse
from console.kit.gateway.commands import shell_command
from console.kit.gateway.quotas.interface import (
    DEFAULT,
    LABEL_ORDER,
    QuotaEntity,
    QuotaKey,
    Quotas,
    Values,
    deciding,
    entity_text,
    order_for,
    order_for_address,
    rank_of,
    value_text,
)
from console.kit.plans.plan import Plan, PlanLine
from console.state.client_applications.queries import CONSOLE_CLIENT_ID

CHANGE = "change quotas"
_NAMED_MAX = 8
_OPTIONS = {
    "user": ("user", "user-defaults"),
    "client-id": ("client", "client-defaults"),
    "ip": ("ip", "ip-defaults"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaPlan(Plan):
    entity: QuotaEntity
    #: By key: the quotas that change, None where one is taken away.
    changes: Mapping[str, float | None]


def quota_plan(
    entity: QuotaEntity,
    wanted: Mapping[str, float | None],
    quotas: Quotas,
    uses: Sequence[ObservedQuotaUse],
    own_user: str,
    bootstrap_servers: str,
) -> QuotaPlan:
    """Plan quotas. `wanted`: new values, None to remove one. `uses` are as last seen."""
    own = quotas.get(entity, {})
    changes = {key: wanted[key] for key in LABEL_ORDER if key in wanted and wanted[key] != own.get(key)}
    values = {key: value for key, value in {**own, **changes}.items() if value is not None}
    after = {**quotas, entity: values}
    words = entity_text(entity)
    blocks = changes.get(QuotaKey.CONNECTION_CREATION_RATE) == 0
    return QuotaPlan(
        entity=entity,
        changes=changes,
        action=CHANGE,
        object_type="quota",
        object_name=words,
        lines=tuple(PlanLine(key, _written(key, own.get(key)), _written(key, value)) for key, value in changes.items()),
        read=(entity.path, *(f"{key}={value_text(key, value)}" for key, value in sorted(own.items()))),
        touches=tuple(_touches(entity, changes, quotas, after, uses, own_user)),
        losses=(f"No connection from {words} is served any more: clients there are cut off as they connect.",)
        if blocks
        else (),
        safe_because="" if any(_lowers(own.get(key), value) for key, value in changes.items()) else _ONLY_MORE,
        about=tuple(name for _, name in entity.parts if name),
        undo=_undo(own, changes),
        command=_command(entity, changes, bootstrap_servers),
        typed_name=words if blocks else "",
    )


_ONLY_MORE = "No user, client or address gets a lower quota than before."


def _lowers(old: float | None, new: float | None) -> bool:
    """Return whether a client may get less; for a removed quota another may apply."""
    return new is None or old is None or new < old


def _touches(
    entity: QuotaEntity,
    changes: Mapping[str, float | None],
    before: Quotas,
    after: Quotas,
    uses: Sequence[ObservedQuotaUse],
    own_user: str,
) -> Iterator[str]:
    for key, value in changes.items():
        yield _what_counts(entity, key, value, after)
        if others := _not_for(entity, key, after):
            yield f"{label(key)}: it does not count for {_some(others)}, whose own quota comes first."
        yield from _felt(entity, key, before, after, uses)
    if _limits_own(entity, changes, after, own_user):
        yield f"The console itself is {own_user}: its own looks at the cluster are held to it too."
    if changes and entity.ip is None:
        yield "Each broker counts by itself, from the moment it applies the change; connections stay open."


def _what_counts(entity: QuotaEntity, key: str, value: float | None, after: Quotas) -> str:
    words = entity_text(entity)
    if value is not None:
        return f"{label(key)}: {words} may use {amount(key, value)} of each broker."
    below = deciding(
        after,
        key,
        (quota_entity for quota_entity in _order(entity, "", "", "") if rank_of(quota_entity) > rank_of(entity)),
    )
    if below is None:
        return f"{label(key)}: {words} is not limited any more."
    return f"{label(key)}: for {words} the quota of {entity_text(below)} counts then, {amount(key, after[below][key])}."


def _felt(
    entity: QuotaEntity, key: str, before: Quotas, after: Quotas, uses: Sequence[ObservedQuotaUse]
) -> Iterator[str]:
    """Yield sentences on clients that are slowed or freed, of those that were seen using such a quota."""
    measured = [use for use in uses if use.key == key]
    count = 0
    for use in measured:
        old, new = (_limit(quotas, key, entity, use) for quotas in (before, after))
        if old == new or count >= _NAMED_MAX:
            continue
        count += 1
        where = f"{use.who} uses {amount(key, use.rate)} on broker {use.broker_id} now"
        if use.peak > use.rate:
            where += f", at most {amount(key, use.peak)} in the last minutes,"
        if new is not None and new < use.peak:
            yield f"{where} and is slowed to {amount(key, new)}."
        elif use.is_held and (new is None or (old is not None and new > old)):
            freed = (
                "is held back no more" if new is None else f"may use {amount(key, new)} instead of {_text(key, old)}"
            )
            held = use.wait_text or "was held back in the last minutes"
            yield f"{where.rstrip(',')}, {held}, and {freed}."
        else:
            yield f"{where.rstrip(',')}, which goes on as it is."
    if not measured and after.get(entity, {}).get(key) is not None:
        yield f"{label(key)}: no use is measured without a quota: throttled clients show once it is set."


def _limit(quotas: Quotas, key: str, entity: QuotaEntity, use: ObservedQuotaUse) -> float | None:
    decider = deciding(quotas, key, _order(entity, use.user, use.client_id, use.ip))
    return None if decider is None else quotas[decider][key]


def _order(entity: QuotaEntity, user: str, client_id: str, ip: str) -> Iterator[QuotaEntity]:
    """Yield entities in order of precedence for a client of which this is known; the rest is as the entity names it."""
    named = dict(entity.parts)
    if entity.ip is not None:
        return order_for_address(ip or named.get("ip") or "")
    return order_for(user or named.get("user") or "", client_id or named.get("client-id") or "")


def _not_for(entity: QuotaEntity, key: str, quotas: Quotas) -> list[str]:
    """Return entities whose quota comes before this one where both apply."""
    first = [
        item
        for item, values in quotas.items()
        if key in values and rank_of(item) < rank_of(entity) and _overlap(item, entity)
    ]
    return [entity_text(item) for item in sorted(first, key=lambda directory: (rank_of(directory), directory.path))]


def _overlap(one: QuotaEntity, other: QuotaEntity) -> bool:
    if (one.ip is None) != (other.ip is None):
        return False
    pairs = zip(one, other, strict=True)
    return all(mine in (None, DEFAULT, yours) or yours in (None, DEFAULT) for mine, yours in pairs)


def _limits_own(entity: QuotaEntity, changes: Mapping[str, float | None], after: Quotas, own_user: str) -> bool:
    if entity.ip is not None or not own_user:
        return False
    order = list(order_for(own_user, CONSOLE_CLIENT_ID))
    return any(value is not None and deciding(after, key, iter(order)) == entity for key, value in changes.items())


def _undo(own: Values, changes: Mapping[str, float | None]) -> str:
    """Return the undo in words: every changed quota with its former value."""
    return f"set them back: {', '.join(f'{label(key)} to {_text(key, own.get(key))}' for key in changes)}."


def _text(key: str, value: float | None) -> str:
    return "no limit of its own" if value is None else amount(key, value)


def _written(key: str, value: float | None) -> str | None:
    """Return the exact value, for the audit."""
    return None if value is None else exact(key, value)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED_MAX
    return "; ".join(names[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _command(entity: QuotaEntity, changes: Mapping[str, float | None], bootstrap_servers: str) -> str:
    options: dict[str, object] = {"alter": True}
    for kind, name in entity.parts:
        named, default = _OPTIONS[kind]
        options |= {default: True} if name is None else {named: name}
    options["add-config"] = _joined(
        f"{key}={value_text(key, item)}" for key, item in changes.items() if item is not None
    )
    options["delete-config"] = _joined(key for key, item in changes.items() if item is None)
    return shell_command("kafka-configs", bootstrap_servers, options)


def _joined(texts: Iterable[str]) -> str | None:
    return ",".join(texts) or None
