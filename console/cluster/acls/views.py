"""The matrix of who may what, the rules, the try-out, and what was denied. Each asks the cluster while it is drawn."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponseBase, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.acls.access import require_acls
from console.cluster.acls.decision_text import sentence
from console.cluster.acls.export import DENIAL_TITLES, MATRIX_TITLES, RULE_TITLES, denial_rows, matrix_rows, rule_rows
from console.cluster.acls.kept import rule_id
from console.cluster.acls.plan import OBJECT_NAME, OBJECT_TYPE
from console.cluster.acls.queries import (
    ALL_OPERATIONS,
    OFFERED_MAX,
    ROWS_PER_PAGE,
    RULES_PER_PAGE,
    RuleFilter,
    known_names,
    known_principals,
    look,
    parse_choice,
    text_of,
)
from console.cluster.acls.rows import Matrix
from console.kit.common.clock import now_ms
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.gateway.acls.decisions import AclDecisions
from console.kit.gateway.acls.interface import (
    ANY_HOST,
    CLUSTER_NAME,
    NO_AUTHORIZER,
    OPERATIONS,
    AclView,
    java_host,
    kafka_name,
)
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.plans.inverse import inverses_of

#: Former rules shown: the newest.
KEPT_SHOWN = 5

Page = Callable[[UserRequest], HttpResponseBase]


def answered(tab: str) -> Callable[[Page], Page]:
    """Return a decorator that shows the cluster's refusal on the page `tab`; without an authorizer, how to set one."""

    def wrap(view: Page) -> Page:
        @wraps(view)
        def look_first(request: UserRequest) -> HttpResponseBase:
            require_acls(request.user)
            try:
                return view(request)
            except GatewayError as error:
                is_off = isinstance(error, RefusedError) and error.code == NO_AUTHORIZER
                context = {"tab": tab, "error": "" if is_off else str(error)}
                return render(request, "acls/unanswered.html", context, status=200 if is_off else 503)

        return look_first

    return wrap


@require_safe
@answered("matrix")
def matrix(request: UserRequest) -> HttpResponseBase:
    view, choice = look(), parse_choice(request.GET)
    matrix = Matrix(view, choice, known_principals(view), known_names(view, choice.resource))
    if wants_csv(request):
        return csv_response(request, "access", MATRIX_TITLES, matrix_rows(matrix, choice))
    pages: Paginator[Any] = Paginator(matrix, ROWS_PER_PAGE)  # type: ignore[arg-type]  # it takes slices and a length
    page = pages.get_page(request.GET.get("page", "1")[:8])
    context = {
        **_common(view, "matrix"),
        "choice": choice,
        "page": page,
        "is_cluster": choice.resource == "CLUSTER",
        "columns": [operation.replace("_", " ").title() for operation in choice.operations],
        "operations": [(operation, kafka_name(operation)) for operation in OPERATIONS[choice.resource]],
    }
    return render(request, "acls/matrix.html", context)


@require_safe
@answered("rules")
def rules(request: UserRequest) -> HttpResponseBase:
    view, chosen = look(), RuleFilter.parse(request.GET)
    matching = chosen.chosen(view.rules)
    if wants_csv(request):
        return csv_response(request, "access-rules", RULE_TITLES, rule_rows(matching))
    page = Paginator(matching, RULES_PER_PAGE).get_page(request.GET.get("page", "1")[:8])
    context = {
        **_common(view, "rules"),
        "chosen": chosen,
        "page": page,
        "rows": [(rule_id(item), item) for item in page],
        "operations": [(operation, kafka_name(operation)) for operation in ALL_OPERATIONS],
        "kept": inverses_of(OBJECT_TYPE, OBJECT_NAME)[:KEPT_SHOWN],
    }
    return render(request, "acls/rules.html", context)


@require_safe
@answered("try-out")
def try_out(request: UserRequest) -> HttpResponseBase:
    """Show whether principal P may do O on R from host H, by the rules in effect; P is not contacted."""
    view, question = look(), _question(request.GET)
    context = {
        **_common(view, "try-out"),
        "asked": question,
        "offered": sorted(known_principals(view))[:OFFERED_MAX],
        "operations": [(operation, kafka_name(operation)) for operation in ALL_OPERATIONS if operation != "ALL"],
    }
    if question["principal"] and question["name"]:
        decisions = AclDecisions(view).of(
            question["principal"], java_host(question["host"]), question["resource"], question["name"]
        )
        context |= {
            "answer": decisions.get(question["operation"]),
            "told": [(item, sentence(item)) for item in decisions.values()],
            "is_no_operation": bool(question["operation"]) and question["operation"] not in decisions,
        }
    return render(request, "acls/try-out.html", context)


@require_safe
@answered("denials")
def denials(request: UserRequest) -> HttpResponseBase:
    view, denials = look(), cluster_gateway().acls.denials()
    if wants_csv(request):
        return csv_response(request, "denials", DENIAL_TITLES, denial_rows(denials or ()))
    return render(request, "acls/denials.html", {**_common(view, "denials"), "denials": denials})


def _question(parameters: QueryDict) -> Mapping[str, str]:
    resource = parameters.get("resource", "TOPIC")
    resource = resource if resource in OPERATIONS else "TOPIC"
    operation = parameters.get("operation", "")
    return {
        "principal": text_of(parameters, "principal"),
        "host": text_of(parameters, "host") or ANY_HOST,
        "resource": resource,
        "name": CLUSTER_NAME if resource == "CLUSTER" else text_of(parameters, "name"),
        "operation": operation if operation in ALL_OPERATIONS else "",
    }


def _common(view: AclView, tab: str) -> dict[str, object]:
    return {
        "tab": tab,
        "view": view,
        "rule_count": len(view.rules),
        "types": [(operation, kafka_name(operation)) for operation in OPERATIONS],
        "super_users": sorted(view.super_users or ()),
        "asked_at_ms": now_ms(),
    }
