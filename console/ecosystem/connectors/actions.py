"""What is done to connectors, as planned. What takes a change back is kept before, without its secrets."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from django.contrib.auth.models import User

from console.ecosystem.connectors.answers import OffsetView
from console.ecosystem.connectors.client import ConnectClient, connect_client
from console.ecosystem.connectors.collect import look_once
from console.ecosystem.connectors.declarations import declared_secrets
from console.ecosystem.connectors.feature import LIVE_GROUP
from console.ecosystem.connectors.masking import masked
from console.ecosystem.connectors.plan import PAUSE, RESTART, RESTART_ALL, RESTART_FAILED, RESUME, STOP
from console.kit.common.clock import now_ms
from console.kit.gateway.errors import GatewayError
from console.kit.live.idle_pace import call
from console.kit.live.push import push_partial
from console.kit.plans.apply import carry_out
from console.kit.plans.inverse import save_inverse
from console.kit.plans.plan import Confirmation, Plan

_DO: Mapping[str, Callable[[ConnectClient, str], None]] = {
    PAUSE: lambda client, name: client.pause(name),
    STOP: lambda client, name: client.stop(name),
    RESUME: lambda client, name: client.resume(name),
    RESTART: lambda client, name: client.restart(name, includes_tasks=False, only_failed=False),
    RESTART_FAILED: lambda client, name: client.restart(name, includes_tasks=True, only_failed=True),
    RESTART_ALL: lambda client, name: client.restart(name, includes_tasks=True, only_failed=False),
}


def do_connector_action(actor: User, plan: Plan, deed: str, confirmation: Confirmation) -> None:
    """Raises NotConfirmedError, GatewayError; all is in the audit. So do the others."""
    _carry_out(actor, plan, confirmation, lambda: _DO[deed](connect_client(), plan.object_name))


def do_restart_task(actor: User, plan: Plan, number: int, confirmation: Confirmation) -> None:
    _carry_out(actor, plan, confirmation, lambda: connect_client().restart_task(plan.object_name, number))


def do_create(actor: User, plan: Plan, config: Mapping[str, str], confirmation: Confirmation) -> None:
    _carry_out(actor, plan, confirmation, lambda: connect_client().create(plan.object_name, config))


def do_configure(
    actor: User,
    plan: Plan,
    old: Mapping[str, str],
    new: Mapping[str, str],
    declared: Collection[str],
    confirmation: Confirmation,
) -> None:
    def configure() -> None:
        save_inverse(actor, plan, {"config": masked(old, declared)})
        connect_client().configure(plan.object_name, new)

    _carry_out(actor, plan, confirmation, configure)


def do_delete(
    actor: User, plan: Plan, old: Mapping[str, str], declared: Collection[str], confirmation: Confirmation
) -> None:
    def delete() -> None:
        save_inverse(actor, plan, {"config": masked(old, declared)})
        connect_client().delete(plan.object_name)

    _carry_out(actor, plan, confirmation, delete)


def do_offsets(
    actor: User,
    plan: Plan,
    now: Sequence[OffsetView],
    wanted: Sequence[OffsetView] | None,
    confirmation: Confirmation,
) -> None:
    """Write offsets; `wanted` None: all are removed."""

    def change() -> None:
        before = [{"partition": dict(partition.partition), "offset": partition.offset} for partition in now]
        save_inverse(actor, plan, {"offsets": before})
        client = connect_client()
        if wanted is None:
            client.reset_offsets(plan.object_name)
        else:
            client.alter_offsets(plan.object_name, list(wanted))

    _carry_out(actor, plan, confirmation, change)


def _carry_out(actor: User, plan: Plan, confirmation: Confirmation, do: Callable[[], None]) -> None:
    carry_out(actor, plan, confirmation, do)
    _look_again()


def _look_again() -> None:
    """Look at Connect again now, so that pages show the change; if it does not answer, the collector's next look
    does.
    """
    with suppress(GatewayError):
        look_once(connect_client(), declared_secrets(), now_ms())
    call()
    push_partial(LIVE_GROUP, "live/resync.html", {"version": now_ms()})
