"""Keeping and removing clusters, as planned, and having the console's processes started again."""

from django.conf import settings
from django.contrib.auth.models import User

from console.kit.audit.record import record_event
from console.kit.common.current_cluster import in_cluster
from console.kit.common.reloading import ask_to_reload
from console.kit.gateway.connection.trial import Trial
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, Plan
from console.shell.fleet.kept import KeptForm, remove, write
from console.shell.fleet.plan import OBJECT_TYPE
from console.state.clusters.reset_cluster import start_afresh


def do_keep(actor: User, plan: Plan, kept: KeptForm, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError; it is all in the audit, but for the secrets."""

    def put() -> None:
        write(kept)
        ask_to_reload(settings.RUN_DIR)

    carry_out(actor, plan, confirmation, put)


def do_remove(actor: User, plan: Plan, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError."""

    def take_away() -> None:
        remove(plan.object_name)
        ask_to_reload(settings.RUN_DIR)

    carry_out(actor, plan, confirmation, take_away)


def do_reset_cluster(actor: User, plan: Plan, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError."""

    def forget() -> None:
        with in_cluster(plan.object_name):
            start_afresh()
        ask_to_reload(settings.RUN_DIR)

    carry_out(actor, plan, confirmation, forget)


def note_trial(actor: User, name: str, bootstrap: str, trial: Trial) -> None:
    """Record in the audit that the console connected to a typed address."""
    after = {"bootstrap": bootstrap, "cluster_id": trial.cluster_id}
    result = "failed" if trial.error else "done"
    record_event(actor, "try cluster", OBJECT_TYPE, name, None, after, result=result, detail=trial.error)
