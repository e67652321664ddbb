"""The API's operations, and their description as OpenAPI. It is imported when the first of them is asked for: what
pushes pages has no use for it.
"""

import inspect
import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import URLResolver, reverse
from django.urls.resolvers import RegexPattern
from ninja import NinjaAPI, Query, Schema, Status
from ninja.errors import HttpError, ValidationError
from ninja.security import HttpBearer
from pydantic import Field

from console.kit.access.api_tokens import SCOPES, end_of
from console.kit.access.rights import rights_of
from console.kit.audit.refusals import count_refusal
from console.kit.common.user_request import UserRequest
from console.kit.features.api import ApiRead
from console.kit.gateway.errors import GatewayError
from console.shell.api import door, plans, tables
from console.shell.api.access import NoToken, TokenRequest, admitted
from console.shell.api.actions import ACTIONS, BadParameter, action_named, texts
from console.shell.api.health import health_of
from console.shell.api.reads import READS

_DESCRIPTION = (
    "What the console's pages show and do, with the rights of the person a token belongs to. A change is planned "
    "first: `POST plans` answers with what would be done and a digest, and `POST plans/apply` with that digest carries "
    "it out, if it is still the same change. What is refused is answered as problem details (RFC 9457)."
)

api = NinjaAPI(
    title="Barnabas", version="1", description=_DESCRIPTION, docs_url=None, openapi_url=None, urls_namespace="api-v1"
)


class Scope(HttpBearer):
    """`any token` with an empty name."""

    def __init__(self, name: str = ""):
        super().__init__()
        self._name = name

    def __call__(self, request: HttpRequest) -> Any:
        return admitted(request, self._name)

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Never called: `admitted` reads the header itself."""


def problem(status: int, sentence: str, **more: object) -> JsonResponse:
    body = {"status": status, "detail": sentence, **more}
    response = JsonResponse(body, status=status, content_type="application/problem+json")
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


# -- reading


class TableRows(Schema):
    """`more`: there are further ones, to be had with `skip`. `note`: what has to be known of the rows, such as which
    records a search has not looked at; empty if nothing."""

    rows: list[dict[str, Any]]
    skip: int
    more: bool
    note: str = ""


_Take = Annotated[int, Query(ge=1, le=tables.ROWS_MAX)]
_Skip = Annotated[int, Query(ge=0, le=tables.SKIP_MAX)]


def _reader(read: ApiRead) -> Callable[..., dict[str, Any]]:
    def rows(request: UserRequest, take: int, skip: int, **values: Any) -> dict[str, Any]:
        filters = [(name, item) for name, values in request.GET.lists() for item in values]
        return tables.rows(request.user, read, values, filters, take, skip)

    path = [(name, int if kind == "int:" else str) for kind, name in re.findall(r"{(\w+:)?(\w+)}", read.path)]
    named = [("take", _Take, tables.ROWS_USUAL), ("skip", _Skip, 0)]
    word = inspect.Parameter.KEYWORD_ONLY
    rows.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # inspect reads it of any function
        [inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [inspect.Parameter(name, word, annotation=kind) for name, kind in path]
        + [inspect.Parameter(name, word, annotation=kind, default=usual) for name, kind, usual in named]
    )
    return rows


def _name_of(read: ApiRead) -> str:
    return "read-" + re.sub(r"{(\w+:)?(\w+)}", "", read.path).replace("/", "-").replace("--", "-").strip("-")


for _read in READS:
    api.get(
        f"/{_read.path}", auth=Scope(_read.scope), response=TableRows, operation_id=_name_of(_read),
        summary=_read.summary, description=f"Filters of the page are parameters here, too. Scope: {_read.scope}.",
        tags=["read"],
    )(_reader(_read))  # fmt: skip


class ReasonView(Schema):
    level: str
    subject: str
    text: str
    evidence: str
    since_ms: int | None
    action: str
    key: str


class HealthView(Schema):
    level: str
    reasons: list[ReasonView]
    muted: list[ReasonView]


@api.get("/health", auth=Scope("read"), response=HealthView, summary="How the cluster is, and why", tags=["read"])
def health(request: UserRequest) -> dict[str, Any]:
    return health_of(request.user)


class TokenView(Schema):
    user: str
    rights: list[str]
    token: str
    scopes: list[str]
    ends_at: datetime


@api.get("/token", auth=Scope(), response=TokenView, summary="Whose token this is, and what it opens", tags=["token"])
def token(request: TokenRequest) -> dict[str, Any]:
    held = request.auth
    rights = sorted(map(str, rights_of(held.user)))
    names = {"user": held.user.get_username(), "token": held.name}
    return names | {"rights": rights, "scopes": held.scopes, "ends_at": end_of(held)}


class DeclarationView(Schema):
    """YAML that `apply-declaration` takes."""

    text: str


@api.get(
    "/declaration", auth=Scope("read"), response=DeclarationView, summary="Today's cluster as a file that declares it",
    description="`only` kinds, as often as wanted; `names`: a pattern. Scope: read.", tags=["read"],
)  # fmt: skip
def declaration(request: UserRequest) -> dict[str, Any]:
    chosen = [(name, item) for name, values in request.GET.lists() for item in values]
    answer = door.look(request.user, reverse("declaration-export"), chosen)
    return {"text": answer.response.content.decode()}


# -- planning and applying


Value = str | int | float | bool | list[str | int]


class PlanBody(Schema):
    action: str = Field(max_length=60)
    parameters: dict[str, Value] = {}


class ApplyBody(PlanBody):
    digest: str = Field("", max_length=64)
    typed_name: str = Field("", max_length=1_024)
    #: For who decides about it, if it has to wait.
    reason: str = Field("", max_length=500)
    #: Of an administrator: why it is made although it may not be made now.
    emergency: str = Field("", max_length=500)


class ChangeView(Schema):
    name: str
    old: Any
    new: Any


class PlanView(Schema):
    """`obstacle`: why it cannot be done now. `typed_name`: what has to be sent with the digest, if anything.

    `waits`: why it would wait for a second person, or for its time, if it were applied now.
    """

    action: str
    object_type: str
    object_name: str
    changes: list[ChangeView]
    touches: list[str]
    losses: list[str]
    undo: str
    command: str
    obstacle: str
    typed_name: str
    waits: str
    digest: str
    apply: dict[str, Any]


class AppliedChange(Schema):
    applied: bool
    messages: list[str]


class WaitingChange(AppliedChange):
    """It is not done: it waits for somebody else, or for its time, as the change of this number."""

    change: int
    address: str


class ActionView(Schema):
    name: str
    summary: str
    parameters: list[str]
    needs_plan: bool


@api.get("/actions", auth=Scope(), response=list[ActionView], summary="What can be planned", tags=["change"])
def actions(request: HttpRequest) -> list[dict[str, Any]]:
    return [action.described for action in ACTIONS.values()]


@api.post("/plans", auth=Scope("plan"), response=PlanView, summary="Have a plan made; nothing changes", tags=["change"])
def plan(request: UserRequest, body: PlanBody) -> dict[str, Any]:
    return plans.show(request.user, action_named(body.action), texts(body.parameters))


@api.post(
    "/plans/apply", auth=Scope("apply"), response={200: AppliedChange, 202: WaitingChange}, summary="Carry a plan out",
    tags=["change"],
)  # fmt: skip
def apply(request: UserRequest, body: ApplyBody) -> Status[dict[str, Any]]:
    """Apply `action` and `parameters` as the plan has them under `apply`, with its `digest`."""
    confirmed = plans.Confirmed(body.digest, body.typed_name, body.reason, body.emergency)
    done = plans.carry_out(request.user, action_named(body.action), texts(body.parameters), confirmed)
    return Status(200 if done["applied"] else 202, done)


# -- what is refused


@api.exception_handler(NoToken)
def _no_token(_request: HttpRequest, error: NoToken) -> HttpResponse:
    return problem(401, str(error))


@api.exception_handler(PermissionDenied)
def _denied(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    count_refusal(request)
    return problem(403, str(error) or "Your account may not do this.")


@api.exception_handler(Http404)
def _not_found(_request: HttpRequest, error: Http404) -> HttpResponse:
    reason = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    return problem(404, reason or "There is nothing of this name that you may see.")


@api.exception_handler(plans.NotDone)
def _not_done(_request: HttpRequest, error: plans.NotDone) -> HttpResponse:
    return problem(error.status, str(error), **({"plan": error.plan} if error.plan else {}))


@api.exception_handler(BadParameter)
def _bad_parameter(_request: HttpRequest, error: BadParameter) -> HttpResponse:
    return problem(422, str(error))


@api.exception_handler(GatewayError)
def _gateway(_request: HttpRequest, error: GatewayError) -> HttpResponse:
    return problem(503, str(error))


@api.exception_handler(ValidationError)
def _invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    problems = [f"{'.'.join(map(str, item['loc'][1:]))}: {item['msg']}" for item in error.errors[:10]]
    return problem(422, "; ".join(problems)[:2_000])


@api.exception_handler(HttpError)
def _http_error(_request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(error.status_code, str(error))


@api.exception_handler(RecursionError)
def _too_deep(_request: HttpRequest, _error: RecursionError) -> HttpResponse:
    return problem(422, "The body is nested too deeply.")


# -- description


def description() -> dict[str, Any]:
    openapi_schema = api.get_openapi_schema(path_prefix=reverse("api-description").removesuffix("openapi.json"))
    openapi_schema["components"].setdefault("securitySchemes", {})
    openapi_schema["info"]["x-scopes"] = SCOPES
    openapi_schema["paths"][f"{reverse('api-events')}"] = {
        "get": {
            "operationId": "events",
            "summary": "What happens in the cluster, as server-sent events; `Last-Event-ID` goes on behind one",
            "tags": ["read"],
            "responses": {"200": {"description": "OK", "content": {"text/event-stream": {}}}},
        }
    }
    return dict(openapi_schema)


#: Of what follows `/api/v1/`; made once, because ninja makes them anew for whoever asks.
operations = URLResolver(RegexPattern(r""), api.urls[0])
