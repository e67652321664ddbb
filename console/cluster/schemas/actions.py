"""Changing the registry as planned; each is in the audit. Raises NotConfirmedError, GatewayError."""

from django.contrib.auth.models import User

from console.cluster.schemas.plan import SubjectPlan
from console.cluster.schemas.registry import NAMES, RegisteredText, RegistryGateway
from console.kit.plans.apply import carry_out
from console.kit.plans.plan import Confirmation, Plan


def do_register(
    actor: User, plan: Plan, gateway: RegistryGateway, subject: str, schema: RegisteredText, confirmation: Confirmation
) -> None:
    def change() -> None:
        gateway.register(subject, schema)
        NAMES.forget()

    carry_out(actor, plan, confirmation, change)


def do_set(actor: User, plan: SubjectPlan, gateway: RegistryGateway, confirmation: Confirmation) -> None:
    def change() -> None:
        if "compatibility" in plan.changes:
            gateway.set_level(plan.subject, plan.changes["compatibility"])
        if "mode" in plan.changes:
            gateway.set_mode(plan.subject, plan.changes["mode"])

    carry_out(actor, plan, confirmation, change)


def do_delete(
    actor: User,
    plan: Plan,
    gateway: RegistryGateway,
    subject: str,
    number: int | None,
    confirmation: Confirmation,
    *,
    permanent: bool,
) -> None:
    def change() -> None:
        gateway.delete(subject, number, permanent=permanent)
        NAMES.forget()

    carry_out(actor, plan, confirmation, change)
