"""Rules that are made, changed and removed on the page: a form, a plan that says what breaks it now, a confirmation."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from console.cluster.charts.readings import readings
from console.kit.access.reach import EVERYTHING
from console.kit.access.rights import Right
from console.kit.common.clock import now_ms
from console.kit.common.user_request import UserRequest
from console.kit.plans.inverse import find_removed, removed
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable
from console.signals.alerts.access import access_alerts
from console.signals.alerts.actions import do_save_rule
from console.signals.alerts.conditions import conditions
from console.signals.alerts.file import RulesFile
from console.signals.alerts.forms import AlertRuleForm, initial_of
from console.signals.alerts.models import KeptRule
from console.signals.alerts.rule_plan import REMOVE, rule_plan
from console.signals.alerts.rules import RULES_MAX, AlertRule, Ruleset
from console.signals.alerts.templates import RULE_TEMPLATES, template_called
from console.signals.overview.queries import health_within

_METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(_METHODS)
def add(request: UserRequest) -> HttpResponse:
    access_alerts(request.user, Right.ADMINISTER)
    return _form_page(request, None)


@require_http_methods(_METHODS)
def change(request: UserRequest, rule: str) -> HttpResponse:
    access_alerts(request.user, Right.ADMINISTER)
    return _form_page(request, _kept(rule))


@require_http_methods(_METHODS)
def remove(request: UserRequest, rule: str) -> HttpResponse:
    access_alerts(request.user, Right.ADMINISTER)
    kept = _kept(rule)
    with refusable() as answer:
        plan = rule_plan(kept.name, kept.definition, {}, ())
        if is_confirmed(request):
            do_save_rule(request.user, plan, {}, Confirmation.parse(request.POST))
            (was, *_) = removed("alert", REMOVE)
            undo = f"{reverse('alert-rule-add')}?kept={was.pk}"
            text = 'The rule {} is removed. <a href="{}">Plan the undo…</a>'
            messages.success(request, format_html(text, kept.name, undo))
            return redirect("alerts")
    context = {"plan": plan, "kept": kept, "address": request.path, "error": answer.error}
    return render(request, "alerts/rule.html", context, status=answer.status)


def _kept(name: str) -> KeptRule:
    rule = KeptRule.objects.filter(name=name).first()
    if rule is None:
        raise Http404("No rule of this name was made here; those of the file are changed there.")
    return rule


def _form_page(request: UserRequest, kept: KeptRule | None) -> HttpResponse:
    ruleset = RulesFile().read()
    was = None if kept else find_removed("alert", REMOVE, request.GET.get("kept", ""))
    template = template_called(request.GET.get("template", ""))
    begun = (was.object_name, was.values) if was else (kept.name, kept.definition) if kept else None
    if begun is None and template is not None:
        begun = (template.name, {**template.values, "channels": list(ruleset.channels)})
    initial = initial_of(*begun) if begun else {"severity": "warning"}
    form = AlertRuleForm(ruleset.channels, request.POST or None, initial=initial)
    if kept:
        form.fields["name"].disabled = True
    there = KeptRule.objects.values_list("name", flat=True)
    offered = () if kept else removed("alert", REMOVE, there)
    context: dict[str, object] = {
        "form": form,
        "kept": kept,
        "removed": offered,
        "channels": ruleset.channels,
        "templates": () if kept else RULE_TEMPLATES,
        "address": request.path,
    }
    if request.method != "POST" or not form.is_valid():
        return render(request, "alerts/rule.html", context, status=422 if form.errors else 200)
    with refusable() as answer:
        name = form.rule.name
        before = KeptRule.objects.filter(name=name).first() if kept else None
        obstacle = _obstacle(name, ruleset, is_new=kept is None)
        plan = rule_plan(name, before.definition if before else {}, form.rule_values, _broken_by(form.rule), obstacle)
        context |= {"plan": plan, "fields": [(key, value) for key in request.POST for value in _values(request, key)]}
        if is_confirmed(request):
            do_save_rule(request.user, plan, form.rule_values, Confirmation.parse(request.POST))
            messages.success(request, f"Rule {name} is active.")
            return redirect("alerts")
    return render(request, "alerts/rule.html", context | {"error": answer.error}, status=answer.status)


def _values(request: UserRequest, key: str) -> list[str]:
    return [] if key in ("csrfmiddlewaretoken", "digest", "typed_name") else request.POST.getlist(key)


def _obstacle(name: str, ruleset: Ruleset, *, is_new: bool) -> str:
    if name in ruleset.rules:
        return f"The file has a rule {name}: choose another name."
    if is_new and KeptRule.objects.filter(name=name).exists():
        return f"There is a rule {name} already: change that one, or choose another name."
    if is_new and KeptRule.objects.count() >= RULES_MAX:
        return f"There are {RULES_MAX} rules; that is the most."
    return ""


def _broken_by(rule: AlertRule) -> list[str]:
    """Return the objects that break the rule now."""
    alone = Ruleset({rule.name: rule})
    alert_conditions = conditions(alone, readings(now_ms()), health_within(EVERYTHING), {})
    return sorted(condition.object_name for condition in alert_conditions if condition.is_bad)
