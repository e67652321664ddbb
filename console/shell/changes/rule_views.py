"""Rules of changes: listed for who may change something, made and removed by administrators, by plan."""

from django.contrib import messages
from django.contrib.auth.models import Group, User
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from console.kit.access.rights import Right, require
from console.kit.common.user_request import UserRequest
from console.kit.plans.inverse import find_removed, removed
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable
from console.shell.changes.actions import do_save_rule
from console.shell.changes.forms import ChangeRuleForm, initial_of
from console.shell.changes.models import ChangeRule
from console.shell.changes.rule_plan import rule_plan
from console.shell.changes.rules import OBJECT_TYPE, REMOVE, RULES_MAX

_METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(_METHODS)
def add(request: UserRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    return _form_page(request, None)


@require_http_methods(_METHODS)
def change(request: UserRequest, rule: str) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    return _form_page(request, _kept(rule))


@require_http_methods(_METHODS)
def remove(request: UserRequest, rule: str) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    kept = _kept(rule)
    with refusable() as answer:
        plan = rule_plan(kept.name, kept.definition, {}, _others(request.user))
        if is_confirmed(request):
            do_save_rule(request.user, plan, {}, Confirmation.parse(request.POST))
            (was, *_) = removed(OBJECT_TYPE, REMOVE)
            undo = f"{reverse('change-rule-add')}?kept={was.pk}"
            text = 'The rule {} is removed. <a href="{}">Plan the undo…</a>'
            messages.success(request, format_html(text, kept.name, undo))
            return redirect("changes")
    context = {"plan": plan, "kept": kept, "address": request.path, "error": answer.error}
    return render(request, "changes/rule.html", context, status=answer.status)


def _form_page(request: UserRequest, kept: ChangeRule | None) -> HttpResponse:
    was = None if kept else find_removed(OBJECT_TYPE, REMOVE, request.GET.get("kept", ""))
    begun = (was.object_name, was.values) if was else (kept.name, kept.definition) if kept else None
    initial = initial_of(*begun) if begun else None
    form = ChangeRuleForm(request.POST or None, initial=initial)
    if kept:
        form.fields["name"].disabled = True
    context: dict[str, object] = {"form": form, "kept": kept, "address": request.path}
    there = ChangeRule.objects.values_list("name", flat=True)
    context["removed"] = () if kept else removed(OBJECT_TYPE, REMOVE, there)
    if request.method != "POST" or not form.is_valid():
        return render(request, "changes/rule.html", context, status=422 if form.errors else 200)
    name = form.cleaned_data["name"]
    with refusable() as answer:
        before = kept.definition if kept else {}
        plan = rule_plan(name, before, form.rule_values, _others(request.user), _obstacle(name, is_new=kept is None))
        context |= {"plan": plan, "fields": _fields(request)}
        if is_confirmed(request):
            do_save_rule(request.user, plan, form.rule_values, Confirmation.parse(request.POST))
            messages.success(request, f"The rule {name} counts from now on.")
            return redirect("changes")
    return render(request, "changes/rule.html", context | {"error": answer.error}, status=answer.status)


def _fields(request: UserRequest) -> list[tuple[str, str]]:
    own = ("csrfmiddlewaretoken", "digest", "typed_name", "reason_to_change", "emergency")
    return [(key, value) for key, values in request.POST.lists() if key not in own for value in values]


def _kept(name: str) -> ChangeRule:
    rule = ChangeRule.objects.filter(name=name).first()
    if rule is None:
        raise Http404("There is no rule of this name.")
    return rule


def _obstacle(name: str, *, is_new: bool) -> str:
    if is_new and ChangeRule.objects.filter(name=name).exists():
        return f"There is a rule {name} already: change that one, or choose another name."
    if is_new and ChangeRule.objects.count() >= RULES_MAX:
        return f"There are {RULES_MAX} rules; that is the most."
    return ""


def _others(user: User) -> int:
    """Return who could approve a change of these rules: administrators other than this one."""
    admins = Group.objects.filter(name="admin")
    chosen = User.objects.filter(Q(groups__in=admins) | Q(is_superuser=True), is_active=True)
    return chosen.exclude(pk=user.pk).distinct().count()
