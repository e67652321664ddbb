"""Taking a soft deletion back: the registry still has what was deleted, and registers it again, in its order."""

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.cluster.schemas.access import access_subject
from console.cluster.schemas.registry import NAMES, CompatibilityVerdict, RegisteredText, RegistryGateway, registry
from console.kit.access.rights import Right
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import RefusedError
from console.kit.plans.apply import Refusals, carry_out
from console.kit.plans.plan import Confirmation, Plan, PlanLine
from console.kit.plans.views import is_confirmed, refusable

RESTORE = "restore schema"
#: Versions of one plan.
VERSIONS_MAX = 100


def restore_plan(
    subject: str, number: int | None, lost: Sequence[RegisteredText], verdict: CompatibilityVerdict | None
) -> Plan:
    """Plan a restoration. `lost`: deleted versions without a live duplicate. `verdict`: of the first of it. Pure."""
    return Plan(
        action=RESTORE,
        object_type="subject",
        object_name=subject if number is None else f"{subject} version {number}",
        lines=tuple(
            PlanLine(f"version {schema.version}", "deleted", f"registered again, with id {schema.id}")
            for schema in lost
        ),
        read=(subject, str(number), *(f"{item.version} {item.id}" for item in lost)),
        touches=(
            "Each gets its id back, so that records written with it are decoded as before, and a new version number.",
            "The registry compares each with what is there by then, and may refuse one.",
        ),
        losses=(),
        safe_because="What is there stays.",
        undo="delete them again.",
        obstacle="" if verdict is None or verdict.is_compatible else "The registry would refuse it: it does not fit.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
def restore(request: UserRequest, subject: str) -> HttpResponse:
    """Restore versions. `version` names one, nothing all that are deleted."""
    access_subject(request.user, subject, Right.OPERATE)
    text = (request.POST if request.method == "POST" else request.GET).get("version", "")
    number = int(text) if text.isdecimal() and len(text) < 10 else None
    context: dict[str, object] = {"subject": subject, "restores": True, "fields": [("version", number or "")]}
    with refusable() as answer:
        gateway = registry()
        lost = _lost(gateway, subject, number)
        verdict = gateway.compare(subject, lost[0]) if lost else None
        plan = context["plan"] = restore_plan(subject, number, lost, verdict)
        if is_confirmed(request):
            refused = do_restore(request.user, plan, gateway, subject, lost, Confirmation.parse(request.POST))
            if len(refused) < len(plan.lines):
                messages.success(request, f"{plan.object_name} was restored.")
            for name, why in list(refused.items())[:5]:
                messages.warning(request, f"{name}: {why}")
            return redirect("schema-subject", subject)
    return render(request, "schemas/delete.html", context | {"error": answer.error}, status=answer.status)


def do_restore(
    actor: User,
    plan: Plan,
    gateway: RegistryGateway,
    subject: str,
    lost: Sequence[RegisteredText],
    confirmation: Confirmation,
) -> Refusals:
    """Restore versions; return what was refused, by version.

    Raises NotConfirmedError, GatewayError; the audit has all of it.
    """

    def change() -> Refusals:
        refused: dict[str, str] = {}
        for schema in lost:
            try:
                gateway.register(subject, schema)
            except RefusedError as error:
                refused[f"version {schema.version}"] = str(error)
        NAMES.forget()
        return refused

    return carry_out(actor, plan, confirmation, change)


def _lost(gateway: RegistryGateway, subject: str, number: int | None) -> list[RegisteredText]:
    """Return deleted texts, each once, without live duplicates, at most VERSIONS_MAX. Raises GatewayError."""
    live = set(_versions(gateway, subject, deleted=False))
    deleted = [
        version
        for version in _versions(gateway, subject, deleted=True)
        if version not in live and number in (None, version)
    ]
    schemas = {schema.id: schema for schema in (gateway.version(subject, at) for at in deleted[:VERSIONS_MAX])}
    return [item for item in schemas.values() if not live or gateway.registered(subject, item) is None]


def _versions(gateway: RegistryGateway, subject: str, *, deleted: bool) -> list[int]:
    try:
        return gateway.versions(subject, deleted=deleted)
    except RefusedError as error:
        if error.code == "40401":
            return []
        raise
