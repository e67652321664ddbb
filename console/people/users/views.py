"""The users page: who may do what, and every change of it as a plan. For administrators, and one's own password."""

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from console.kit.access.identities import BY_SINGLE_SIGN_ON, may_have_password
from console.kit.access.initial_password import MUST_CHANGE
from console.kit.access.reach import AccessLevel, Resource
from console.kit.access.rights import Right, require
from console.kit.audit.refusals import count_quietly
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import PlanResult, is_confirmed, refusable
from console.people.users.actions import (
    do_change_own_password,
    do_change_user,
    do_create_user,
    do_end_logins,
    do_reset_password,
)
from console.people.users.forms import CreateUserForm, UserRightsForm
from console.people.users.plan import change_plan, creation_plan, end_logins_plan, password_plan
from console.people.users.preview import cluster_text_of, preview
from console.people.users.queries import TITLES, UserRights, people, person_rows, user_rights_of, wanted_of
from console.people.users.throttle import BROWSER, begin_attempt, forget_failures, name_as_counted

PEOPLE_PER_PAGE = 50


@require_safe
def user_list(request: UserRequest) -> HttpResponseBase:
    require(request.user, Right.ADMINISTER)
    search = request.GET.get("search", "").strip()[:150]
    users = people(search)
    if wants_csv(request):
        return csv_response(request, "users", TITLES, person_rows(users))
    page = Paginator(users, PEOPLE_PER_PAGE).get_page(request.GET.get("page", "1"))
    shown = [(user, user_rights_of(user)) for user in page]
    return render(request, "users/users.html", {"page": page, "people": shown, "search": search})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def user_create(request: UserRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    form = CreateUserForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return render(request, "users/user-create.html", {"form": form}, status=422 if form.errors else 200)
    wanted = UserRights(form.cleaned_data["role"], True, ())
    plan = creation_plan(form.cleaned_data["username"], wanted)
    with refusable(409) as answer:
        if is_confirmed(request):
            made = do_create_user(request.user, plan, wanted, Confirmation.parse(request.POST))
            person = User.objects.get(username=plan.object_name)
            return render(request, "users/one-time-password.html", {"person": person, "password": made})
    context = {"form": form, "plan": plan, "fields": form.cleaned_data.items(), "error": answer.error}
    return render(request, "users/user-create.html", context, status=answer.status)


@require_http_methods(["GET", "HEAD", "POST"])
def user_page(request: UserRequest, number: int) -> HttpResponse:
    """Show the form, then the plan with its effects; a post with the plan's digest confirms it."""
    require(request.user, Right.ADMINISTER)
    person = get_object_or_404(people(), pk=number)
    now = user_rights_of(person)
    form = UserRightsForm(
        request.POST or None,
        initial={"role": now.role, "is_active": now.is_active, "rules": now.rules},
        clusters=dict(now.clusters),
    )
    if request.method != "POST" or not form.is_valid():
        return _user_page(request, person, form, {"preview": preview(now, now)}, 422 if form.errors else 200)
    wanted = wanted_of(person, form.user_rights)
    plan = change_plan(person, wanted)
    with refusable(409) as answer:
        if is_confirmed(request):
            do_change_user(request.user, person, plan, wanted, Confirmation.parse(request.POST))
            messages.success(request, f"{person.username} was changed." if plan.lines else "Nothing differs.")
            return redirect("user", person.pk)
    context = {"plan": plan, "error": answer.error, "fields": form.fields_again, "preview": preview(now, wanted)}
    context |= {"cluster_then": cluster_text_of(wanted)}
    return _user_page(request, person, form, context, answer.status)


def _user_page(
    request: UserRequest, person: User, form: UserRightsForm, context: dict[str, object], status: int
) -> HttpResponse:
    context |= {
        "person": person,
        "form": form,
        "resources": list(Resource),
        "levels": list(AccessLevel),
        "cluster_now": cluster_text_of(user_rights_of(person)),
    }
    return render(request, "users/user.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def user_password(request: UserRequest, number: int) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    person = get_object_or_404(User, pk=number)
    plan = password_plan(person)
    with refusable() as answer:
        if request.method == "POST":
            made = do_reset_password(request.user, person, plan, Confirmation.parse(request.POST))
            return render(request, "users/one-time-password.html", {"person": person, "password": made})
    return _account_plan(request, person, plan, "Reset the password", answer)


@require_http_methods(["GET", "HEAD", "POST"])
def user_logins(request: UserRequest, number: int) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    person = get_object_or_404(User, pk=number)
    plan = end_logins_plan(person)
    with refusable() as answer:
        if request.method == "POST":
            do_end_logins(request.user, person, plan, Confirmation.parse(request.POST))
            messages.success(request, f"All sessions of {person.username} have ended.")
            return redirect("user", person.pk)
    return _account_plan(request, person, plan, "End the logins", answer)


def _account_plan(request: UserRequest, person: User, plan: Plan, verb: str, answer: PlanResult) -> HttpResponse:
    context = {"person": person, "plan": plan, "verb": verb, "error": answer.error}
    return render(request, "users/account-plan.html", context, status=answer.status)


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def own_password(request: UserRequest) -> HttpResponse:
    """Change one's own password; guessing the old one is throttled as at the login."""
    if not may_have_password(request.user):
        raise PermissionDenied(BY_SINGLE_SIGN_ON)
    form = PasswordChangeForm(request.user, request.POST or None)
    name, place, wait_seconds = name_as_counted(request.user.get_username()), f"{BROWSER}own-{request.user.pk}", 0
    if request.method == "POST":
        wait_seconds = begin_attempt(name, place, timezone.now())
        if not wait_seconds and form.is_valid():
            forget_failures(name, place)
            do_change_own_password(request.user, form.cleaned_data["new_password1"])
            update_session_auth_hash(request, request.user)
            request.session.pop(MUST_CHANGE, None)
            messages.success(request, "Your password was changed; your other sessions have ended.")
            return redirect("overview")
        if not wait_seconds and "old_password" in form.errors:
            count_quietly(request.user, "fail to change own password", "user", request.user.get_username())
        elif not wait_seconds:
            forget_failures(name, place)
    status = 429 if wait_seconds else 422 if request.method == "POST" else 200
    context = {"form": form, "wait_seconds": wait_seconds, "must_change": hasattr(request.user, "password_to_change")}
    return render(request, "users/own-password.html", context, status=status)
