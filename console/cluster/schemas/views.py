"""Looking at subjects, at one with its versions, and at a schema by its id."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.schemas.access import access_subject, is_within
from console.cluster.schemas.configuration import RegistryAddress
from console.cluster.schemas.diff import laid_out
from console.cluster.schemas.queries import NAME_LENGTH_MAX, SubjectQuery, subject_page_of, subject_view, users_of
from console.cluster.schemas.refused import refused_within
from console.cluster.schemas.registry import registry
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError, RefusedError
from console.kit.tables.arrangement import rows_for
from console.state.clusters.queries import cluster_state

#: What a registry says where there is nothing of that name.
ABSENT = ("40401", "40402", "40403")


@require_safe
def subject_list(request: UserRequest) -> HttpResponse:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    query = SubjectQuery.parse(request.GET)
    is_part = request.htmx.target == "subject-table"
    reach = reach_of(request.user)
    context: dict[str, object] = {
        "query": query,
        "refused": refused_within(cluster_state(), reach),
        **_registry_text(),
    }
    try:
        context["page"] = subject_page_of(query, reach, rows_for(request, "schemas"), fresh=not is_part)
        context["level"], context["mode"] = registry().level(), registry().mode()
    except GatewayError as error:
        context["error"] = str(error)
    return render(request, "schemas/partials/subject-table.html" if is_part else "schemas/list.html", context)


def _registry_text() -> dict[str, str]:
    """Return the registry's address and the user it is asked as, for a command that is shown."""
    known = here.SCHEMA_REGISTRY
    if not isinstance(known, RegistryAddress):
        return {"registry_address": "http://REGISTRY:8081", "registry_user": ""}
    return {"registry_address": known.url, "registry_user": known.user}


@require_safe
def subject_page(request: UserRequest, subject: str) -> HttpResponse:
    access_subject(request.user, subject, Right.VIEW)
    reach = reach_of(request.user)
    refused = [item for item in refused_within(cluster_state(), reach) if item.subject == subject]
    context: dict[str, object] = {"subject": subject, "refused": refused}
    try:
        context["view"] = subject_view(registry(), subject, reach, request.GET)
        context["users"] = users_of(subject, reach)
    except GatewayError as error:
        if isinstance(error, RefusedError) and error.code in ABSENT:
            raise Http404(f"There is no subject {subject}.") from None
        context["error"] = str(error)
    return render(request, "schemas/subject.html", context)


@require_safe
def schema_of_id(request: UserRequest, number: int) -> HttpResponse:
    """Show a schema to people who may see one of its subjects, without revealing its other subjects."""
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    reach = reach_of(request.user)
    context: dict[str, object] = {"number": number}
    try:
        gateway = registry()
        context_name = request.GET.get("context", "")[:NAME_LENGTH_MAX]
        places = [place for place in _places(number, context_name) if is_within(reach, place[0])]
        if not places:
            raise Http404(f"No subject that you may see has a schema of id {number}.")
        schema = gateway.of_id(number, context=context_name)
        context |= {"context": context_name, "schema": schema, "text": laid_out(schema.text), "places": places}
    except GatewayError as error:
        context["error"] = str(error)
    return render(request, "schemas/of-id.html", context)


def _places(number: int, context: str) -> list[tuple[str, int]]:
    try:
        return registry().places(number, context=context)
    except RefusedError as error:
        if error.code in ABSENT:
            return []
        raise
