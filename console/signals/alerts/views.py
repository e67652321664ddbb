"""The page of alerts, and what is done there."""

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from console.kit.access.rights import Right
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import is_main
from console.kit.common.user_request import UserRequest
from console.signals.alerts.access import access_alert, access_alerts
from console.signals.alerts.actions import TooManyTestsError, do_acknowledge, do_silence, do_test
from console.signals.alerts.file import RulesFile
from console.signals.alerts.kept import with_kept
from console.signals.alerts.queries import TITLES, alert_rows, alerts_page

#: Hours that can be chosen.
HOURS = (1, 4, 12, 24, 72)
_WHY_LENGTH_MAX = 300


@require_safe
def alerts(request: UserRequest) -> HttpResponseBase:
    access_alerts(request.user, Right.VIEW)
    if wants_csv(request):
        return csv_response(request, "alerts", TITLES, alert_rows())
    return render(request, "alerts/page.html", alerts_page() | {"hours": HOURS, "is_main": is_main()})


@require_POST
def acknowledge(request: UserRequest, number: int) -> HttpResponse:
    alert = access_alert(request.user, number, Right.OPERATE)
    hours = _hours(request)
    do_acknowledge(request.user, alert, now_ms() + hours * 3_600_000)
    messages.success(request, f"{alert.rule}: {alert.object_name} is silenced for {hours} h.")
    return redirect("alerts")


@require_POST
def silence(request: UserRequest, rule: str) -> HttpResponse:
    """Silence the rule for that many hours; without any, end the silence."""
    access_alerts(request.user, Right.OPERATE)
    if rule not in with_kept(RulesFile().read())[0].rules:
        raise Http404("There is no such rule.")
    if "end" in request.POST:
        do_silence(request.user, rule, None, "")
        messages.success(request, f"{rule} is not silenced any more.")
        return redirect("alerts")
    hours = _hours(request)
    do_silence(request.user, rule, now_ms() + hours * 3_600_000, request.POST.get("why", "")[:_WHY_LENGTH_MAX].strip())
    messages.success(request, f"{rule} is silenced for {hours} h.")
    return redirect("alerts")


@require_POST
def test_channel(request: UserRequest, channel: str) -> HttpResponse:
    access_alerts(request.user, Right.OPERATE)
    if channel not in RulesFile().read().channels:
        raise Http404("There is no such channel.")
    try:
        do_test(request.user, channel)
        messages.success(request, f"A test is on its way to {channel}; below it says how that went.")
    except TooManyTestsError as error:
        messages.warning(request, str(error))
    return redirect("alerts")


def _hours(request: UserRequest) -> int:
    """Return one of HOURS; the first for an invalid value."""
    text = request.POST.get("hours", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 and int(text) in HOURS else HOURS[0]
