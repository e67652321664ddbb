"""The form for a channel of alerts. Its secrets go into the file of the rules, and come back to no page."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.kit.access.rights import Right
from console.kit.common.current_cluster import is_main
from console.kit.common.user_request import UserRequest
from console.signals.alerts.access import access_alerts
from console.signals.alerts.actions import do_add_channel
from console.signals.alerts.channel_file import ChannelError
from console.signals.alerts.channels import CHANNEL_KINDS
from console.signals.alerts.forms import ChannelForm

_NOT_HERE = "Channels are those of all clusters of this console: add them on the page of the main cluster."


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: UserRequest) -> HttpResponse:
    access_alerts(request.user, Right.ADMINISTER)
    if not is_main():
        raise PermissionDenied(_NOT_HERE)
    kind = request.GET.get("kind", "")
    kind = kind if kind in CHANNEL_KINDS else next(iter(CHANNEL_KINDS))
    form = ChannelForm(kind, request.POST or None)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"]
        try:
            do_add_channel(request.user, name, kind, form.settings)
        except ChannelError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Channel {name} is active. Send a test with its button.")
            return redirect("alerts")
    context = {"form": form, "kind": kind, "kinds": CHANNEL_KINDS}
    return render(request, "alerts/channel.html", context, status=422 if form.errors else 200)
