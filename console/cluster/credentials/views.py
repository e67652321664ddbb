"""The list of Kafka's users, and giving, changing and taking their passwords.

A typed password comes with the confirmation alone: it is in no form before, so nothing has to be kept in between. The
answer to the confirmation is the only page that ever shows one that was made here.
"""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from console.cluster.credentials.access import access_credentials, access_scram_user
from console.cluster.credentials.actions import do_delete, do_set_password, generated_password
from console.cluster.credentials.forms import CreateForm, PasswordForm, password_refusal
from console.cluster.credentials.models import ScramUser
from console.cluster.credentials.plan import UserState, deletion_plan, password_plan
from console.cluster.credentials.queries import TITLES, UserListQuery, csv_rows, look, user_page
from console.cluster.credentials.store import passwords_given
from console.cluster.quotas.queries import quota_counts, uses_of_user
from console.kit.access.rights import Right
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.credentials.interface import MECHANISMS
from console.kit.gateway.errors import RefusedError
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable

_EXISTS = "There is a user of this name already: change its password instead."
_GONE = "This user has no SCRAM credential any more."


@require_safe
def user_list(request: UserRequest) -> HttpResponseBase:
    access_credentials(request.user, Right.VIEW)
    query = UserListQuery.parse(request.GET)
    if wants_csv(request):
        return csv_response(request, "kafka-users", TITLES, csv_rows(query))
    is_part = request.htmx.target == "scram-table"
    context = {"query": query, "page": user_page(query), "look": look(), "has_rows": ScramUser.objects.exists()}
    return render(request, "credentials/partials/user-table.html" if is_part else "credentials/list.html", context)


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: UserRequest) -> HttpResponse:
    access_credentials(request.user, Right.ADMINISTER)
    form = CreateForm(request.POST or None)
    return _give(request, form, "", reverse("credential-create"))


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: UserRequest, number: int) -> HttpResponse:
    user = access_scram_user(request.user, number, Right.ADMINISTER)
    usual = {"mechanisms": list(user.mechanisms), "iterations": max(user.mechanisms.values(), default=None)}
    form = PasswordForm(request.POST or None, initial={name: item for name, item in usual.items() if item})
    return _give(request, form, user.name, reverse("credential-password", args=[number]), user)


@sensitive_variables("made")
def _give(
    request: UserRequest, form: PasswordForm, name: str, address: str, user: ScramUser | None = None
) -> HttpResponse:
    """Show the form, then the plan, then the password itself, once. `name` is empty where the form has it."""
    context: dict[str, object] = {"form": form, "name": name, "address": address, "scram_user": user}
    if request.method != "POST" or not form.is_valid():
        return render(request, "credentials/password.html", context, status=422 if form.errors else 200)
    context |= {"fields": form.fields_again, "asks_password": form.is_typed}
    with refusable() as answer:
        user_state = user_state_of(name or form.cleaned_data["name"])
        if bool(user_state.mechanisms) != bool(name):
            raise RefusedError("RESOURCE_NOT_FOUND", _GONE) if name else RefusedError("DUPLICATE_RESOURCE", _EXISTS)
        bootstrap = here.BOOTSTRAP_SERVERS
        plan = password_plan(user_state, form.wanted, is_typed=form.is_typed, bootstrap_servers=bootstrap)
        context["plan"] = plan
        if is_confirmed(request):
            made = _chosen(request, form)
            do_set_password(request.user, plan, form.wanted, made, Confirmation.parse(request.POST))
            return _given(request, user_state.name, "" if form.is_typed else made)
    return render(request, "credentials/password.html", context | {"error": answer.error}, status=answer.status)


def _chosen(request: UserRequest, form: PasswordForm) -> str:
    """Raises RefusedError."""
    if not form.is_typed:
        return generated_password()
    typed = request.POST.get("password", "")
    if refusal := password_refusal(typed):
        raise RefusedError("UNACCEPTABLE_CREDENTIAL", refusal)
    return typed


def _given(request: UserRequest, name: str, made: str) -> HttpResponse:
    """Show the password; without one redirect, so that a reload does not repeat the change."""
    if not made:
        messages.success(request, f"{name} has the password that you typed.")
        return redirect("credentials")
    user = ScramUser.objects.filter(name=name).first()
    return render(request, "credentials/once.html", {"name": name, "password": made, "scram_user": user})


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: UserRequest, number: int) -> HttpResponse:
    """Delete a user's credentials, or only the named `mechanism`."""
    user = access_scram_user(request.user, number, Right.ADMINISTER)
    only = request.POST.get("mechanism") or request.GET.get("mechanism", "")
    only = only if only in MECHANISMS else ""
    context: dict[str, object] = {"scram_user": user, "only": only, "fields": [("mechanism", only)] if only else []}
    with refusable() as answer:
        user_state = user_state_of(user.name)
        doomed = [name for name in user_state.mechanisms if only in ("", name)]
        if not doomed:
            raise RefusedError("RESOURCE_NOT_FOUND", _GONE)
        plan = context["plan"] = deletion_plan(user_state, doomed, here.BOOTSTRAP_SERVERS)
        if is_confirmed(request):
            do_delete(request.user, plan, doomed, Confirmation.parse(request.POST))
            messages.success(request, f"{user.name} cannot log in by {' or '.join(doomed)} any more.")
            return redirect("credentials")
    return render(request, "credentials/delete.html", context | {"error": answer.error}, status=answer.status)


def user_state_of(name: str) -> UserState:
    """Return the user's state from the cluster, with the last known uses of quotas. Raises GatewayError."""
    gateway = cluster_gateway().credentials
    view = gateway.describe()
    return UserState(
        name=name,
        mechanisms=view.users.get(name, {}),
        rule_count=None if view.rule_counts is None else view.rule_counts.get(name, 0),
        quota_count=quota_counts().get(name, 0),
        seen=uses_of_user(name),
        passwords_given=passwords_given(name),
        is_own=bool(name) and name == gateway.own_user,
    )
