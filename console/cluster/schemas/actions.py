"""Changing the registry as planned; each is in the audit. Raises NotConfirmedError, GatewayError."""

from django.contrib.auth.models import User

from console.cluster.schemas.registry import NAMES, Registry, Schema
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, Plan


def do_register(
    actor: User, plan: Plan, asked: Registry, subject: str, schema: Schema, confirmation: Confirmation
) -> None:
    def change() -> None:
        asked.register(subject, schema)
        NAMES.forget()

    carry_out(actor, plan, confirmation, change)


def do_set(
    actor: User,
    plan: Plan,
    asked: Registry,
    subject: str,
    wanted: tuple[str | None, str | None],
    confirmation: Confirmation,
) -> None:
    def change() -> None:
        changed = {line.name for line in plan.lines}
        if "compatibility" in changed:
            asked.set_level(subject, wanted[0])
        if "mode" in changed:
            asked.set_mode(subject, wanted[1])

    carry_out(actor, plan, confirmation, change)


def do_delete(
    actor: User,
    plan: Plan,
    asked: Registry,
    subject: str,
    number: int | None,
    confirmation: Confirmation,
    *,
    permanent: bool,
) -> None:
    def change() -> None:
        asked.delete(subject, number, permanent=permanent)
        NAMES.forget()

    carry_out(actor, plan, confirmation, change)
