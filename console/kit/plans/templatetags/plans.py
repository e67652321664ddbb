"""`{{ plan|digest_for:user }}`: what the form that confirms `plan` sends back; `{{ plan|outlook }}`: if it waits."""

from django import template

from console.kit.plans.digest import digest_of
from console.kit.plans.gate import the_gate
from console.kit.plans.plan import Plan
from console.kit.plans.posted import PlanHold

register = template.Library()
register.filter("digest_for", digest_of)


@register.filter
def outlook(plan: Plan) -> PlanHold | None:
    """Return whether the plan would wait if it were confirmed now; None: it would be carried out."""
    return the_gate().outlook(plan)
