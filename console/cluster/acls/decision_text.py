"""Decisions in sentences. Pure."""

from console.kit.gateway.acls.decisions import AclDecision, DecisionCause
from console.kit.gateway.acls.interface import kafka_name

_CAUSES = {
    DecisionCause.SUPER_USER: "super user",
    DecisionCause.NO_RULE: "allow.everyone.if.no.acl.found",
    DecisionCause.NOT_ALLOWED: "no rule allows it",
}


def deciding_text(decision: AclDecision) -> str:
    """Return what decides, in a few words."""
    return str(decision.rule) if decision.rule else _CAUSES[decision.cause]


def sentence(decision: AclDecision) -> str:
    """Return the whole explanation of the decision, for one operation."""
    done = kafka_name(decision.operation)
    if decision.cause is DecisionCause.SUPER_USER:
        return f"{done} is allowed: a super user may do everything, whatever the rules say."
    if decision.cause is DecisionCause.NO_RULE:
        verdict = "allowed" if decision.is_allowed else "denied"
        known = f"allow.everyone.if.no.acl.found is {str(decision.is_allowed).lower()}"
        return f"{done} is {verdict}: no rule matches this resource, and {known}.{_doubt(decision)}"
    if decision.rule is None:
        return f"{done} is denied: rules match this resource, and none of them allows it.{_doubt(decision)}"
    if not decision.is_allowed:
        first = "What denies counts before all that allows."
        return f"{done} is denied by the rule: {decision.rule}. {first}{_doubt(decision)}"
    implied = f" To be allowed to {decision.rule.does} is to be allowed to {done}." if decision.is_implied else ""
    return f"{done} is allowed by the rule: {decision.rule}.{implied}"


def _doubt(decision: AclDecision) -> str:
    if decision.is_certain:
        return ""
    if decision.cause is DecisionCause.NO_RULE:
        return (
            "This cluster does not report that setting (false is Kafka's default), nor its super users, who "
            "may do everything."
        )
    return "Super users may do it all the same: this cluster does not report them."
