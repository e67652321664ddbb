"""Keeping and removing clusters, as planned, and having the console's processes started again."""

from django.conf import settings
from django.contrib.auth.models import User

from console.audit.record import record_event
from console.clusters.afresh import start_afresh
from console.common.current_cluster import in_cluster
from console.common.reloading import ask_to_reload
from console.fleet.kept import Kept, remove, write
from console.fleet.plan import OBJECT_TYPE
from console.gateway.trial import Trial
from console.plans.apply import carry_out
from console.plans.plan import Confirmation, Plan


def do_keep(actor: User, plan: Plan, kept: Kept, confirmation: Confirmation) -> None:
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


def do_start_afresh(actor: User, plan: Plan, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError."""

    def forget() -> None:
        with in_cluster(plan.object_name):
            start_afresh()
        ask_to_reload(settings.RUN_DIR)

    carry_out(actor, plan, confirmation, forget)


def note_trial(actor: User, name: str, bootstrap: str, trial: Trial) -> None:
    """The console has connected to where somebody said."""
    after = {"bootstrap": bootstrap, "cluster_id": trial.cluster_id}
    result = "failed" if trial.error else "done"
    record_event(actor, "try cluster", OBJECT_TYPE, name, None, after, result=result, detail=trial.error)
