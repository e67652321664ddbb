"""Begin a decommission, and make its changes in the name of the user who began it."""

from django.contrib.auth.models import User

from console.automation.decommission.models import Decommission
from console.cluster.placement.actions import do_move
from console.cluster.placement.move import MovePlan
from console.kit.operations.actions import begin
from console.kit.plans.digest import digest_of
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.posted import goes_on
from console.processes.consequences import broker_id_of
from console.processes.models import ManagedProcess


def do_begin(actor: User, plan: Plan, move: MovePlan, process: ManagedProcess, confirmation: Confirmation) -> None:
    """Drain and remove it as planned. Raises NotConfirmedError; ObstacleError if that is under way."""
    count = len(move.moves)

    def make(**common: object) -> None:
        broker = {"name": process.name, "broker_id": broker_id_of(process)}
        Decommission.objects.create(**broker, rate=move.rate, held=count, left=count, **common)

    begin(actor, plan, confirmation, make, f"{process.name} is leaving already.")


def do_drain(decommission: Decommission, move: MovePlan, bootstrap_servers: str) -> None:
    """Move away what is still there: what was confirmed, or came since. Nothing moves if it was called off meanwhile.

    Raises NotConfirmedError, GatewayError.
    """
    if not Decommission.objects.filter(pk=decommission.pk, state=Decommission.State.RUNNING).exists():
        return
    actor, plan = decommission.actor, move.as_plan(bootstrap_servers)
    with goes_on():
        do_move(actor, plan, move, Confirmation(digest_of(plan, actor), plan.typed_name))
