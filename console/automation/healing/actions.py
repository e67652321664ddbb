"""What a person does about healing: sets a kind, confirms a proposal, dismisses it. Each is audited."""

from django.contrib.auth.models import User

from console.automation.healing import queue
from console.automation.healing.kinds import TroubleRule
from console.automation.healing.models import HealingRule, Proposal
from console.automation.healing.remedy import Remedy, carry_out
from console.kit.audit.record import record_event
from console.kit.common.clock import now_ms
from console.kit.plans.apply import Refusals
from console.kit.plans.apply import carry_out as carry_out_plan
from console.kit.plans.plan import Confirmation, Plan


def do_set_rule(actor: User, plan: Plan, rule: TroubleRule, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError."""

    def keep() -> None:
        values = {"mode": rule.mode.value, "minutes": rule.minutes, "limit": rule.limit, "rate": rule.rate}
        said_by = {"actor": actor, "actor_name": actor.get_username()}
        HealingRule.objects.update_or_create(kind=rule.kind.value, defaults=values | said_by)

    carry_out_plan(actor, plan, confirmation, keep)
    queue.announce(now_ms())


def do_confirm(actor: User, proposal: Proposal, remedy: Remedy, confirmation: Confirmation) -> Refusals:
    """Raises NotConfirmedError, GatewayError."""
    refused = carry_out(actor, remedy, confirmation)
    queue.end(proposal, Proposal.State.DONE, queue.outcome_sentence(remedy, refused), actor.get_username(), now_ms())
    queue.announce(now_ms())
    return refused


def do_dismiss(actor: User, proposal: Proposal) -> None:
    """Dismiss an open proposal; one that is over stays as it is."""
    if queue.end(proposal, Proposal.State.DISMISSED, "Dismissed.", actor.get_username(), now_ms()):
        record_event(actor, "dismiss healing", "cluster", proposal.cause, {"state": "open"}, {"state": "dismissed"})
        queue.announce(now_ms())
