"""Moving a consumer group to the other cluster of a mirror, as planned."""

from django.contrib.auth.models import User

from console.ecosystem.mirrors.group_move import Ends
from console.kit.plans.plan import Confirmation, Plan
from console.state.consumers.actions import Done, change_keeping, put_offsets
from console.state.consumers.reset import Reset


def do_move_group(actor: User, plan: Plan, ends: Ends, group: str, reset: Reset, confirmation: Confirmation) -> Done:
    """Commit in the target; what was refused, and what takes it back. Raises NotConfirmedError, GatewayError."""
    return change_keeping(actor, plan, reset, confirmation, lambda: put_offsets(ends.target.groups, group, reset))
