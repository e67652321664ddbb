"""The gate before every plan: what the rules say of it now, and who is let through in an emergency."""

from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.utils import timezone

from console.kit.access.rights import Right, has_right
from console.kit.audit.record import record_event
from console.kit.common.current_cluster import all_clusters, current_cluster, in_cluster
from console.kit.plans.apply import OBJECT_NAME_LENGTH_MAX
from console.kit.plans.gate import PendingChange
from console.kit.plans.plan import Plan
from console.kit.plans.posted import PlanHold, Posted, PostMode
from console.shell.changes.models import ChangeRule
from console.shell.changes.rules import RULES_MAX, ApprovalRule, RuleDemand, RuleError, demand_of, parse_rule

EMERGENCY = "make change in emergency"


def rules_now() -> list[ApprovalRule]:
    """Return the rules; an unreadable one (its time zone is gone) requires a second person for everything."""
    return [_read(rule.name, rule.definition) for rule in ChangeRule.objects.all()[:RULES_MAX]]


def _read(name: str, values: dict[str, object]) -> ApprovalRule:
    try:
        return parse_rule(name, values)
    except RuleError as error:
        return ApprovalRule(name, "approval", ("*",), ("*",), f"The rule cannot be read: {error}")


def demand_now(plan: Plan) -> RuleDemand:
    """Return what the rules of this and every other affected cluster demand, the others with their names."""
    others = [cluster for cluster in all_clusters() if cluster in plan.clusters and cluster != current_cluster()]
    rules = [*rules_now(), *(rule for other in others for rule in _rules_of(other))]
    return demand_of(rules, plan, plan.begins_at or timezone.now())


def _rules_of(cluster: str) -> list[ApprovalRule]:
    with in_cluster(cluster):
        return [replace(item, name=f"{item.name} of {cluster}") for item in rules_now()]


@dataclass(frozen=True)
class RulesGate:
    def hold(self, plan: Plan, actor: User, posted: Posted | None) -> PlanHold | None:
        demand = demand_now(plan)
        if not demand.approval and not demand.closed:
            return None
        is_approved = posted is not None and posted.mode is PostMode.APPROVED and _who(actor, posted).pk != actor.pk
        reason = posted.emergency if posted is not None else ""
        in_emergency = bool(demand.closed and reason) and has_right(_who(actor, posted), Right.ADMINISTER)
        held = demand.hold(plan, is_approved=is_approved, in_emergency=in_emergency)
        if held is None and in_emergency:
            self._notify(_who(actor, posted), plan, demand, reason)
        return held

    def outlook(self, plan: Plan) -> PlanHold | None:
        return demand_now(plan).hold(plan, is_approved=False, in_emergency=False)

    def propose(self, actor: User, posted: Posted) -> PendingChange:
        from console.shell.changes.proposing import propose

        return propose(actor, posted)

    def _notify(self, actor: User, plan: Plan, demand: RuleDemand, reason: str) -> None:
        name = plan.object_name[:OBJECT_NAME_LENGTH_MAX]
        rules = ", ".join(rule.name for rule in demand.closed)
        record_event(actor, EMERGENCY, plan.object_type, name, detail=f"{plan.action}, against {rules}: {reason}")


def _who(actor: User, posted: Posted | None) -> User:
    """Return the approver of an approved change."""
    return actor if posted is None or posted.approver is None else posted.approver
