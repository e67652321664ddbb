"""Pages that plan another position of a connector: its offsets altered, or all taken away."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from console.ecosystem.connectors.access import access_offsets
from console.ecosystem.connectors.actions import do_offsets
from console.ecosystem.connectors.answers import OffsetView
from console.ecosystem.connectors.client import connect_client
from console.ecosystem.connectors.forms import OffsetsForm
from console.ecosystem.connectors.plan import ALTER_OFFSETS, OBJECT_TYPE, RESET_OFFSETS, offsets_plan
from console.ecosystem.connectors.typed import TypedError, offsets_from, offsets_text
from console.kit.access.rights import Right
from console.kit.common.user_request import UserRequest
from console.kit.plans.inverse import find_inverse
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable


@require_http_methods(["GET", "HEAD", "POST"])
def alter(request: UserRequest, name: str) -> HttpResponse:
    """Show the form, filled with the current offsets or, with `kept`, those before a change; then its plan."""
    access_offsets(request.user, name, Right.OPERATE)
    context: dict[str, object] = {"name": name, "address": reverse("connector-offsets", args=[name])}
    with refusable() as answer:
        client = connect_client()
        now = client.offsets(name)
        if request.method != "POST":
            context["form"] = OffsetsForm(initial={"offsets": offsets_text(_kept(request, name, now))})
            context["state"] = client.connector(name).state
            return render(request, "connectors/offsets.html", context)
        form = context["form"] = OffsetsForm(request.POST)
        if not form.is_valid():
            return render(request, "connectors/offsets.html", context, status=422)
        wanted: list[OffsetView] = form.cleaned_data["offsets"]
        state = client.connector(name).state
        plan = offsets_plan(name, now, wanted, state, client.address)
        context |= {"plan": plan, "fields": [("offsets", offsets_text(wanted))]}
        if is_confirmed(request):
            do_offsets(request.user, plan, now, wanted, Confirmation.parse(request.POST))
            messages.success(request, f"The offsets of {name} are altered. Resume it to go on from them.")
            return redirect("connector", name)
    return render(request, "connectors/offsets.html", context | {"error": answer.error}, status=answer.status)


@require_http_methods(["GET", "HEAD", "POST"])
def reset(request: UserRequest, name: str) -> HttpResponse:
    access_offsets(request.user, name, Right.OPERATE)
    address = reverse("connector-reset-offsets", args=[name])
    context: dict[str, object] = {"name": name, "verb": "Reset offsets", "address": address}
    with refusable() as answer:
        client = connect_client()
        now = client.offsets(name)
        plan = offsets_plan(name, now, None, client.connector(name).state, client.address)
        context["plan"] = plan
        if is_confirmed(request):
            do_offsets(request.user, plan, now, None, Confirmation.parse(request.POST))
            messages.success(request, f"The offsets of {name} are reset. Resume it to begin again.")
            return redirect("connector", name)
    return render(request, "connectors/change.html", context | {"error": answer.error}, status=answer.status)


def _kept(request: UserRequest, name: str, now: tuple[OffsetView, ...]) -> tuple[OffsetView, ...]:
    """Return the offsets before a change of ours; partitions that are new since then have offset None."""
    kept = find_inverse(OBJECT_TYPE, name, request.GET.get("kept", ""))
    if kept is None or kept.action not in (ALTER_OFFSETS, RESET_OFFSETS):
        return now
    try:
        before = offsets_from(offsets_text(OffsetView(e["partition"], e["offset"]) for e in kept.values["offsets"]))
    except TypedError:
        before = []
    places = {item.place for item in before}
    return (*before, *(OffsetView(partition.partition, None) for partition in now if partition.place not in places))
