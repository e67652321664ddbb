"""What an operator may do that begins a rolling restart; the beat goes on from its row."""

from django.contrib.auth.models import User

from console.automation.rolling_restart.models import RestartedBroker, RollingRestart
from console.automation.rolling_restart.plan import UNDER_WAY, RestartPlan
from console.kit.operations.actions import begin
from console.kit.plans.plan import Confirmation, Plan


def do_begin(actor: User, planned: RestartPlan, plan: Plan, confirmation: Confirmation) -> None:
    """Restart the brokers of `planned`, one after the other. Raises NotConfirmedError."""

    def make(**common: object) -> None:
        restart = RollingRestart.objects.create(accepts_gaps=bool(planned.gaps), **common)
        RestartedBroker.objects.bulk_create(
            RestartedBroker(restart=restart, position=position, name=broker.name, broker_id=broker.broker_id)
            for position, broker in enumerate(planned.brokers)
        )

    begin(actor, plan, confirmation, make, UNDER_WAY)
