"""What an operator may do to an ensemble: begin a change as planned, or call it off. The beat carries it out."""

from dataclasses import asdict

from django.contrib.auth.models import User

from console.cluster.zookeeper.models import EnsembleChange
from console.cluster.zookeeper.plan import UNDER_WAY, EnsemblePlan
from console.kit.common.databases import cluster_atomic
from console.kit.operations.actions import begin
from console.kit.operations.rows import change
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, Plan
from console.processes.models import ManagedProcess
from console.processes.registry import change_process


def do_change_ensemble(actor: User, planned: EnsemblePlan, confirmation: Confirmation) -> None:
    """Begin what was planned. Raises NotConfirmedError."""

    def make(**common: object) -> None:
        joining = [asdict(item) for item in planned.joining]
        EnsembleChange.objects.create(
            kind=planned.kind.value, joining_servers=joining, leaving=list(planned.leaving), **common
        )

    begin(actor, planned.plan, confirmation, make, UNDER_WAY)


def do_set_zoo_cfg(actor: User, plan: Plan, servers: list[ManagedProcess], confirmation: Confirmation) -> None:
    """Write zoo.cfg of each server, for its next start. Raises NotConfirmedError."""

    def write() -> None:
        with cluster_atomic():
            for row in servers:
                change_process(row, {**row.spec, "settings": {**row.spec.get("settings", {}), **plan.after}})

    carry_out(actor, plan, confirmation, write)


def do_call_off(actor: User, called: EnsembleChange) -> bool:
    """Stop the new servers and leave the members as they are. False if the members may have changed already."""
    values = {"is_called_off": True, "sentence": "Is called off."}
    return change(actor, called, "call off", values, lambda now: now.can_be_called_off)
