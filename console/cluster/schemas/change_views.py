"""Registering, trying out, settings and deleting: a form, the plan it makes, and a post with the plan's digest."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from console.cluster.schemas.access import access_subject, is_within
from console.cluster.schemas.actions import do_delete, do_register, do_set
from console.cluster.schemas.forms import SchemaForm, SettingsForm
from console.cluster.schemas.plan import delete_plan, register_plan, settings_plan
from console.cluster.schemas.registry import RegisteredText, RegistryGateway, registry
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require, require_all_topics, require_somewhere
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable

_METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(_METHODS)
def register(request: UserRequest) -> HttpResponse:
    """Validate a schema when shown, register it when confirmed: the plan lists incompatibilities by version."""
    require_somewhere(request.user, Resource.TOPIC, Right.OPERATE)
    if request.method != "POST":
        return render(request, "schemas/register.html", {"form": SchemaForm(initial=_begun(request))})
    form = SchemaForm(request.POST)
    context: dict[str, object] = {"form": form}
    if not form.is_valid():
        return render(request, "schemas/register.html", context, status=422)
    subject, schema = form.cleaned_data["subject"], form.schema
    access_subject(request.user, subject, Right.OPERATE)
    _require_references(request, schema)
    context["fields"] = form.fields_again
    with refusable() as answer:
        gateway = registry()
        verdict = gateway.compare(subject, schema)
        live = _live(gateway, subject)
        there = gateway.registered(subject, schema) if live and verdict.is_compatible else None
        level = gateway.level(subject) or gateway.level() or ""
        plan = register_plan(subject, schema, live, there, verdict, level)
        context |= {"plan": plan, "verdict": verdict, "there": there, "level": level}
        if is_confirmed(request):
            do_register(request.user, plan, gateway, subject, schema, Confirmation.parse(request.POST))
            messages.success(request, f"{schema.type.capitalize()} schema of {subject} was registered.")
            return redirect("schema-subject", subject)
    return render(request, "schemas/register.html", context | {"error": answer.error}, status=answer.status)


@require_http_methods(_METHODS)
def defaults(request: UserRequest) -> HttpResponse:
    """Show or change compatibility and mode of every subject without its own."""
    require(request.user, Right.OPERATE)
    require_all_topics(request.user, Right.OPERATE)
    return _settings(request, "")


@require_http_methods(_METHODS)
def subject_settings(request: UserRequest, subject: str) -> HttpResponse:
    access_subject(request.user, subject, Right.OPERATE)
    return _settings(request, subject)


def _settings(request: UserRequest, subject: str) -> HttpResponse:
    back = reverse("schema-subject", args=[subject]) if subject else reverse("schemas")
    context: dict[str, object] = {"subject": subject, "back": back, "address": request.path}
    with refusable() as answer:
        gateway = registry()
        old = gateway.level(subject), gateway.mode(subject)
        initial = {"level": old[0] or "", "mode": old[1] or ""} | request.GET.dict()
        form = SettingsForm(request.POST or None, initial=initial, is_default=not subject)
        context["form"] = form
        if request.method == "POST" and form.is_valid():
            defaults = gateway.level() or "", gateway.mode() or ""
            plan = settings_plan(subject, old, form.wanted, defaults)
            context |= {"plan": plan, "fields": form.fields_again}
            if is_confirmed(request):
                do_set(request.user, plan, gateway, Confirmation.parse(request.POST))
                undo = f"{request.path}?{urlencode({'level': old[0] or '', 'mode': old[1] or ''})}"
                sentence = 'Settings of {} were changed. <a href="{}">Plan the undo…</a>'
                messages.success(request, format_html(sentence, plan.object_name, undo))
                return redirect(back)
    return render(request, "schemas/settings.html", context | {"error": answer.error}, status=answer.status)


@require_http_methods(_METHODS)
def delete(request: UserRequest, subject: str) -> HttpResponse:
    """Delete versions. `version` names one, nothing all; `permanent` for those that are softly deleted already."""
    access_subject(request.user, subject, Right.OPERATE)
    form = request.POST if request.method == "POST" else request.GET
    text = form.get("version", "")
    number = int(text) if text.isdecimal() and len(text) < 10 else None
    permanent = form.get("permanent") == "on"
    context: dict[str, object] = {"subject": subject, "permanent": permanent}
    context["fields"] = [("version", number or ""), ("permanent", "on" if permanent else "")]
    with refusable() as answer:
        gateway = registry()
        doomed = _doomed(gateway, subject, number, permanent=permanent)
        ids = [gateway.version(subject, item).id for item in doomed[:20]]
        plan = delete_plan(subject, number, doomed, permanent=permanent, ids=ids)
        context["plan"] = plan
        if is_confirmed(request):
            confirmation = Confirmation.parse(request.POST)
            do_delete(request.user, plan, gateway, subject, number, confirmation, permanent=permanent)
            back = f"{reverse('schema-restore', args=[subject])}?version={number or ''}"
            undo = "" if permanent else format_html(' <a href="{}">Plan the undo…</a>', back)
            done = "was deleted for good" if permanent else "was deleted"
            messages.success(request, format_html("{} {}.{}", plan.object_name, done, undo))
            return redirect("schemas") if permanent or number is None else redirect("schema-subject", subject)
    return render(request, "schemas/delete.html", context | {"error": answer.error}, status=answer.status)


def _doomed(gateway: RegistryGateway, subject: str, number: int | None, *, permanent: bool) -> list[int]:
    live = _live(gateway, subject)
    every = gateway.versions(subject, deleted=True) if permanent else live
    doomed = [item for item in every if (item not in live) == permanent]
    return [item for item in doomed if number in (None, item)]


def _live(gateway: RegistryGateway, subject: str) -> list[int]:
    try:
        return gateway.versions(subject)
    except RefusedError as error:
        if error.code == "40401":
            return []
        raise


def _begun(request: UserRequest) -> dict[str, object]:
    """Return initial values: the subject of the link, and its latest version where there is one."""
    subject = request.GET.get("subject", "")[:249]
    if not subject or not is_within(reach_of(request.user), subject):
        return {"subject": subject}
    try:
        latest = registry().version(subject, "latest")
    except GatewayError:
        return {"subject": subject}
    references = "\n".join(
        f"{reference.name} {reference.subject} {reference.version}" for reference in latest.references
    )
    return {"subject": subject, "type": latest.type, "text": latest.text, "references": references}


def _require_references(request: UserRequest, schema: RegisteredText) -> None:
    """Require that references are compatible too."""
    reach = reach_of(request.user)
    if not all(is_within(reach, reference.subject) for reference in schema.references):
        raise PermissionDenied("A reference names a subject that your rights do not reach.")
