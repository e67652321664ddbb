"""Decisions and denials as cells and addresses."""

from urllib.parse import urlencode

from django import template

from console.cluster.acls.decision_text import sentence
from console.cluster.acls.effects import AclEffect
from console.cluster.acls.rows import AclRow
from console.kit.gateway.acls.decisions import AclDecision, DecisionCause
from console.kit.gateway.acls.interface import Denials, kafka_name

register = template.Library()
register.filter("words", kafka_name)
register.filter("in_a_sentence", sentence)


@register.filter
def mark(decision: AclDecision) -> str:
    """Return yes, no, or denied by a rule; uncertain ones with a question mark."""
    if decision.is_allowed:
        return "yes"
    is_denied = decision.cause is DecisionCause.RULE
    return "denied" if is_denied else "no" if decision.is_certain else "no?"


@register.filter
def try_out_query(row: AclRow, decision: AclDecision) -> str:
    return urlencode({"principal": row.principal, "name": row.name, "operation": decision.operation})


@register.filter
def asked_again(denials: Denials) -> str:
    return urlencode(
        {
            "principal": denials.last_principal,
            "operation": denials.last_operation,
            "resource": denials.last_resource,
            "name": denials.last_name,
            "host": denials.last_host,
        }
    )


@register.filter
def allowing(denials: Denials) -> str:
    """Return the query of a form for a rule that would have allowed the operation, from any host."""
    return urlencode(
        {
            "principal": denials.last_principal,
            "resource": denials.last_resource,
            "name": denials.last_name,
            "operations": denials.last_operation,
        }
    )


@register.filter
def on_what(effect: AclEffect) -> str:
    return effect.on_what
