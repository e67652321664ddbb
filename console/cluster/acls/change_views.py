"""Changing access lists: what comes and goes, who gains and loses by it, and then the change."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_safe

from console.cluster.acls.access import require_acls
from console.cluster.acls.actions import do_change_rules
from console.cluster.acls.effects import AclChange
from console.cluster.acls.forms import AclRuleForm, RuleFileForm, UseForm
from console.cluster.acls.kept import change_of
from console.cluster.acls.plan import OBJECT_NAME, OBJECT_TYPE
from console.cluster.acls.planning import planned
from console.cluster.acls.queries import (
    OFFERED_MAX,
    RuleFilter,
    known_principals,
    look,
    rules_by_id,
)
from console.cluster.acls.uses import USES
from console.kit.access.rights import Right
from console.kit.common.foreign_json import parse_foreign_json
from console.kit.common.user_request import UserRequest
from console.kit.gateway.acls.interface import AclView
from console.kit.gateway.errors import GatewayError
from console.kit.plans.apply import Refusals
from console.kit.plans.inverse import find_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import refusable

_REFUSALS_SHOWN = 5


@require_safe
def create(request: UserRequest) -> HttpResponse:
    """Show the form; filled in, the plan under it."""
    require_acls(request.user, Right.GRANT)
    is_asked = "permission" in request.GET and "operations" in request.GET
    form = AclRuleForm(request.GET if is_asked else None, initial={key: request.GET[key] for key in request.GET})
    context: dict[str, object] = {"form": form}
    with refusable(200) as answer:
        view = look()
        context["principals"] = sorted(known_principals(view))[:OFFERED_MAX]
        if is_asked and form.is_valid():
            context |= planned(view, AclChange(form.cleaned_data["rules"])).shown
    status = 422 if is_asked and form.errors else answer.status
    return render(request, "acls/create.html", context | {"error": answer.error}, status=status)


@require_safe
def use(request: UserRequest) -> HttpResponse:
    """Show the kinds of clients; the form of the chosen one; and the plan of the rules it needs."""
    require_acls(request.user, Right.GRANT)
    name = request.GET.get("use", "")
    context: dict[str, object] = {"uses": USES.items(), "use_name": name, "use": USES.get(name)}
    if name not in USES:
        return render(request, "acls/use.html", context)
    is_asked = "principal" in request.GET
    form = UseForm(USES[name], request.GET if is_asked else None)
    context["form"] = form
    with refusable(200) as answer:
        view = look()
        context["principals"] = sorted(known_principals(view))[:OFFERED_MAX]
        if is_asked and form.is_valid():
            context |= planned(view, AclChange(form.cleaned_data["rules"])).shown
    status = 422 if is_asked and form.errors else answer.status
    return render(request, "acls/use.html", context | {"error": answer.error}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def rule_file(request: UserRequest) -> HttpResponse:
    """Show a file of rules; posted, the plan of what it changes. Nothing is changed here."""
    require_acls(request.user, Right.GRANT)
    is_asked = request.method == "POST"
    form = RuleFileForm(request.POST if is_asked else None, request.FILES if is_asked else None)
    context: dict[str, object] = {"form": form}
    with refusable(200) as answer:
        view = look()
        if is_asked and form.is_valid():
            wanted = form.cleaned_data["rules"]
            context |= planned(view, AclChange(wanted, view.rules if form.cleaned_data["prune"] else ())).shown
    status = 422 if is_asked and form.errors else answer.status
    return render(request, "acls/rule-file.html", context | {"error": answer.error}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: UserRequest) -> HttpResponse:
    """Change ACLs. `remove`: ids of rules; `matching`: all that the filters of the list choose; `undo`: an earlier
    change.
    """
    require_acls(request.user, Right.GRANT)
    context: dict[str, object] = {}
    with refusable(422 if request.method == "POST" else 200) as answer:
        view = look()
        if request.method == "POST":
            planned_acls = planned(view, _posted(request))
            context |= planned_acls.shown
            refused, kept = do_change_rules(
                request.user, planned_acls.plan, planned_acls.change, Confirmation.parse(request.POST)
            )
            return _show_result(request, planned_acls.plan, refused, kept)
        context |= planned(view, _requested_change(request, view, context)).shown
    return render(request, "acls/change.html", context | {"error": answer.error}, status=answer.status)


def _requested_change(request: UserRequest, view: AclView, context: dict[str, object]) -> AclChange:
    undo = find_inverse(OBJECT_TYPE, OBJECT_NAME, request.GET.get("undo", ""))
    if undo is not None:
        context["undo"] = undo
        return change_of(undo.values)
    if "matching" in request.GET:
        return AclChange(removed=tuple(RuleFilter.parse(request.GET).chosen(view.rules)))
    return AclChange(removed=tuple(rules_by_id(view, request.GET.getlist("remove"))))


def _posted(request: UserRequest) -> AclChange:
    """Return the posted change. Raises GatewayError if it cannot be read."""
    try:
        return change_of(parse_foreign_json(request.POST.get("change", "")))
    except (ValueError, RecursionError) as error:
        raise GatewayError(f"The plan could not be read: {error}.") from error


def _show_result(request: UserRequest, plan: Plan, refused: Refusals, kept: KeptInverse | None) -> HttpResponse:
    for rule, why in sorted(refused.items())[:_REFUSALS_SHOWN]:
        messages.warning(request, f"{rule} was not changed: {why}")
    if not plan.lines:
        messages.info(request, "Nothing differs: nothing was changed.")
    elif len(refused) < len(plan.lines):
        address = reverse("acl-change")
        undo = format_html(' <a href="{}?undo={}">Plan the undo…</a>', address, kept.pk) if kept else ""
        messages.success(request, format_html("Access lists were changed.{}", undo))
    return redirect("acl-rules")
