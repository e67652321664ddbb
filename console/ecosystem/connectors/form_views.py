"""Creating a connector and configuring one: the form its plugin declares, or JSON, then the plan of the change.

A typed secret is on no page: it travels sealed (`sealing.py`) from the form to the confirmation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from console.ecosystem.connectors.access import access_connector, require_configuring
from console.ecosystem.connectors.actions import do_configure, do_create
from console.ecosystem.connectors.answers import KeyView, Validation
from console.ecosystem.connectors.client import ConnectClient, connect_client
from console.ecosystem.connectors.forms import FIXED, ConfigForm, JsonForm
from console.ecosystem.connectors.masking import MASK, SECRET_TYPE, masked, without
from console.ecosystem.connectors.models import Connector
from console.ecosystem.connectors.plan import CONFIGURE, OBJECT_TYPE, ConnectorChange, configuration_plan
from console.ecosystem.connectors.queries import DELETED
from console.ecosystem.connectors.sealing import print_of, seal, unseal
from console.ecosystem.connectors.typed import new_secrets, resolved, secrets_of, to_json
from console.kit.access.internal_topics import internal_topics
from console.kit.access.rights import Right
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import RefusedError
from console.kit.plans.inverse import find_inverse
from console.kit.plans.models import KeptInverse
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable

_METHODS = ["GET", "HEAD", "POST"]


@require_safe
def choose(request: UserRequest) -> HttpResponse:
    require_configuring(request.user)
    context: dict[str, object] = {}
    with refusable(200) as answer:
        context["plugins"] = sorted(
            connect_client().plugins(), key=lambda plugin: (plugin.kind != "source", plugin.short)
        )
    return render(request, "connectors/choose.html", context | {"error": answer.error})


@dataclass(frozen=True)
class Draft:
    """What is configured: the connector `name`, or a new one if there is no `current`. `shown` begins the form."""

    plugin: str
    name: str
    keys: tuple[KeyView, ...]
    recommended: Mapping[str, tuple[str, ...]]
    current: Mapping[str, str] = field(repr=False, default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_new(self) -> bool:
        return not self.current

    @property
    def declared(self) -> frozenset[str]:
        return frozenset(key.name for key in self.keys if key.type == SECRET_TYPE)

    @property
    def sealed_for(self) -> str:
        """New ones have no name that could not be another's."""
        return f"new {self.plugin}" if self.is_new else f"of {self.name}"


@never_cache
@sensitive_post_parameters()
@require_http_methods(_METHODS)
def create(request: UserRequest, plugin: str) -> HttpResponse:
    """Create a connector. With `kept`, the form has a deleted one's configuration."""
    require_configuring(request.user)
    short = plugin.rpartition(".")[2]
    context: dict[str, object] = {"short_class": short, "address": reverse("connector-create", args=[plugin])}
    with refusable() as answer:
        keys, recommended = _declared(connect_client(), plugin, {})
        kept = KeptInverse.objects.filter(object_type=OBJECT_TYPE, action=DELETED, pk=_number(request)).first()
        config = {key: value for key, value in kept.values["config"].items() if value != MASK} if kept else {}
        shown = {"name": kept.object_name, **config} if kept else {}
        return _form(request, Draft(plugin, "", keys, recommended, shown=shown), context)
    return render(request, "connectors/form.html", context | {"error": answer.error}, status=answer.status)


@never_cache
@sensitive_post_parameters()
@require_http_methods(_METHODS)
@sensitive_variables()
def configure(request: UserRequest, name: str) -> HttpResponse:
    """Configure a connector. With `kept`, the form has its earlier configuration."""
    access_connector(request.user, name, Right.ADMINISTER)
    context: dict[str, object] = {"name": name, "address": reverse("connector-configure", args=[name])}
    with refusable() as answer:
        client = connect_client()
        current = client.connector(name).config
        plugin = current.get("connector.class", "")
        keys, recommended = _declared(client, plugin, current)
        draft = Draft(plugin, name, keys, recommended, current)
        kept = find_inverse(OBJECT_TYPE, name, request.GET.get("kept", ""))
        was = kept.values["config"] if kept and kept.action == CONFIGURE else None
        draft = Draft(plugin, name, keys, recommended, current, was or masked(current, draft.declared))
        return _form(request, draft, context | {"kept": kept if was else None})
    return render(request, "connectors/form.html", context | {"error": answer.error}, status=answer.status)


@sensitive_variables()
def _form(request: UserRequest, draft: Draft, context: dict[str, object]) -> HttpResponse:
    """Show the empty form, the form with its errors, or its plan. Raises GatewayError."""
    has_lines = any("\n" in name for name in draft.shown.values())
    is_json = has_lines or (request.POST or request.GET).get("as") == "json"
    context |= {"is_json": is_json, "is_new": draft.is_new}
    if request.method != "POST":
        context["form"] = _made(draft, is_json, None, draft.shown)
        return render(request, "connectors/form.html", context)
    sealed = unseal(request.user, draft.sealed_for, request.POST.get("sealed", ""))
    form = _made(draft, is_json, request.POST, masked({**draft.current, **sealed}, draft.declared))
    context |= {"form": form, "sealed": request.POST.get("sealed", "") if sealed else ""}
    if form.is_valid():
        name = draft.name or (form.name_typed if isinstance(form, JsonForm) else form.cleaned_data["name"])
        config = _resolved(form, draft, name, sealed)
        if form.is_valid():
            return _planned(request, draft, name, config, context)
    return render(request, "connectors/form.html", context, status=422)


@sensitive_variables()
def _planned(
    request: UserRequest, draft: Draft, name: str, config: Mapping[str, str], context: dict[str, object]
) -> HttpResponse:
    secrets = new_secrets(config, draft.current, draft.declared)
    shown = masked(config, draft.declared)
    prints = {f"old {key}": print_of(value) for key, value in draft.current.items()}
    prints |= {f"new {key}": print_of(value) for key, value in secrets.items()}
    change = ConnectorChange(name, draft.current or None, config, draft.declared, prints)
    client = connect_client()
    plan = configuration_plan(change, client.address, internal_topics())
    sealed = seal(request.user, draft.sealed_for, secrets)
    fields = [("as", "json"), ("json", to_json(shown)), ("sealed", sealed)]
    context |= {"plan": plan, "fields": fields, "sealed": sealed}
    if context["is_json"]:
        context["form"] = JsonForm(initial={"json": to_json(shown)})
    with refusable() as answer:
        if is_confirmed(request):
            confirmation = Confirmation.parse(request.POST)
            if draft.is_new:
                do_create(request.user, plan, config, confirmation)
            else:
                do_configure(request.user, plan, draft.current, config, draft.declared, confirmation)
            messages.success(request, f"{name} is {'created' if draft.is_new else 'configured anew'}.")
            return redirect("connector", name)
    context["error"] = without(answer.error, secrets_of(config, draft.current, declared=draft.declared))
    return render(request, "connectors/form.html", context, status=answer.status)


@sensitive_variables()
def _resolved(form: ConfigForm | JsonForm, draft: Draft, name: str, sealed: Mapping[str, str]) -> dict[str, str]:
    """Return the whole configuration; errors are added to `form`."""
    config, problems = resolved(form.typed, sealed, draft.current, declared=draft.declared)
    config |= {"name": name, "connector.class": draft.plugin}
    for key, why in problems.items():
        form.refuse(key, why)
    if draft.is_new and Connector.objects.filter(name=name).exists():
        form.refuse("name", "There is a connector of this name already.")
    if problems:
        return config
    secrets = secrets_of(config, draft.current, declared=draft.declared)
    for key, whys in connect_client().validate(draft.plugin, config).errors.items():
        for why in whys:
            form.refuse(key, without(why, secrets))
    return config


def _made(
    draft: Draft, is_json: bool, data: Mapping[str, str] | None, shown: Mapping[str, str]
) -> ConfigForm | JsonForm:
    if is_json:
        whole = {**dict.fromkeys(("name",), draft.name), **shown, "connector.class": draft.plugin}
        return JsonForm(data, initial={"json": to_json(whole)})
    form = ConfigForm(draft.keys, data, shown, is_new=draft.is_new, recommended=draft.recommended)
    if draft.is_new:
        form.fields["name"].initial = shown.get("name", "")
    return form


def _declared(
    client: ConnectClient, plugin: str, current: Mapping[str, str]
) -> tuple[tuple[KeyView, ...], dict[str, tuple[str, ...]]]:
    """Return the plugin's keys, and those Connect adds for every connector. Raises GatewayError."""
    own = client.declaration(plugin.rpartition(".")[2])
    try:
        checked = client.validate(plugin, {"name": "a-name", **current, "connector.class": plugin})
    except RefusedError as error:
        if error.code in ("NOT_CONFIGURED", "UNAUTHORIZED"):
            raise
        checked = Validation((), {})
    known = {item.name for item in own}
    keys = (*own, *(key for key in checked.keys if key.name not in known))
    visible = tuple(key for key in keys if key.name not in FIXED)
    return visible, {name: item.recommended for name, item in checked.values.items() if item.recommended}


def _number(request: UserRequest) -> int:
    kept = request.GET.get("kept", "")
    return int(kept) if kept.isascii() and kept.isdigit() and len(kept) <= 18 else 0
