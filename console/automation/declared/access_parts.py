"""What of declared access rules and quotas is not so yet. All rules are one change, as on their page."""

from collections.abc import Iterator

from django.contrib.auth.models import User

from console.automation.declared.declaration import ClusterDeclaration, name_in_scope
from console.automation.declared.now import ClusterNow
from console.automation.declared.parts import PlannedPart, Unplanned
from console.cluster.acls.actions import do_change_rules
from console.cluster.acls.effects import AclChange
from console.cluster.acls.planning import planned
from console.cluster.quotas.access import refusal_to_change
from console.cluster.quotas.actions import do_change_quotas
from console.cluster.quotas.plan import quota_plan
from console.cluster.quotas.queries import stored_uses
from console.kit.access.rights import NOT_ALL_NAMES, REFUSALS, Right, has_right, sees_all_names
from console.kit.common.current_cluster import here
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.quotas.interface import QuotaEntity

#: Who does not log in.
_ANONYMOUS = "ANONYMOUS"


def rule_parts(
    person: User, declaration: ClusterDeclaration, now: ClusterNow, *, prunes: bool
) -> Iterator[PlannedPart | Unplanned]:
    """Raises GatewayError."""
    is_pruned = prunes and "principals" in declaration.scope
    if not declaration.acls and not is_pruned:
        return
    if not sees_all_names(person) or not has_right(person, Right.VIEW):
        yield Unplanned("access lists", NOT_ALL_NAMES)
        return
    wanted = {rule for acl in declaration.acls if not acl.is_absent for rule in acl.rules}
    removed = {rule for acl in declaration.acls if acl.is_absent for rule in acl.rules}
    if is_pruned:
        removed |= {rule for rule in now.rules.rules if declaration.within("principals", rule.principal)} - wanted
    planned_acls = planned(now.rules, AclChange(tuple(wanted), tuple(removed)))
    if not planned_acls.plan.lines:
        return
    refusal = "" if has_right(person, Right.GRANT) else REFUSALS[Right.GRANT]
    yield PlannedPart(
        planned_acls.plan,
        lambda actor, confirmation: do_change_rules(actor, planned_acls.plan, planned_acls.change, confirmation)[0],
        refusal,
    )


def quota_parts(
    person: User, declaration: ClusterDeclaration, now: ClusterNow, *, prunes: bool
) -> Iterator[PlannedPart | Unplanned]:
    """Raises GatewayError."""
    is_pruned = prunes and "quotas" in declaration.scope
    if not declaration.quotas and not is_pruned:
        return
    if not sees_all_names(person) or not has_right(person, Right.VIEW):
        yield Unplanned("quotas", NOT_ALL_NAMES)
        return
    wanted: dict[QuotaEntity, dict[str, float | None]] = {
        quota.entity: dict(quota.values) for quota in declaration.quotas
    }
    if is_pruned:
        for entity, values in now.quotas.items():
            if entity in wanted or declaration.within("quotas", name_in_scope(entity)):
                wanted[entity] = {**dict.fromkeys(values), **wanted.get(entity, {})}
    for entity, quotas in wanted.items():
        part = _quota_part(entity, quotas, now, refusal_to_change(person, entity))
        if part.plan.lines:
            yield part


def _quota_part(entity: QuotaEntity, values: dict[str, float | None], now: ClusterNow, refusal: str) -> PlannedPart:
    own_user = cluster_gateway().credentials.own_user or _ANONYMOUS
    plan = quota_plan(entity, values, now.quotas, stored_uses(), own_user, here.BOOTSTRAP_SERVERS)
    before = now.quotas.get(entity, {})
    return PlannedPart(plan, lambda actor, confirmation: do_change_quotas(actor, plan, before, confirmation), refusal)
