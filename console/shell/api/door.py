"""A page asked from within the process: its own view, with its rights, its filters and its plans, but nothing is drawn.

So whatever a page shows and does, the API does too, by the same code; a page that is changed changes both.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from django.contrib.auth.models import User
from django.contrib.messages.storage.base import BaseStorage
from django.contrib.sessions.backends.base import SessionBase
from django.forms import BaseForm
from django.http import HttpResponse, QueryDict
from django.urls import resolve
from django.utils.html import strip_tags
from django.utils.safestring import SafeData
from django_htmx.middleware import HtmxDetails

from console.kit.common.managed_here import refuse_elsewhere
from console.kit.common.user_request import InnerRequest
from console.kit.plans.posted import CONFIRMATION_FIELDS, Posted, PostMode, posting

Pairs = Iterable[tuple[str, str]]
_LINK = re.compile(r"<a .*?</a>", re.DOTALL)


@dataclass(frozen=True)
class PageResponse:
    """`shown`: the context of the page's template, empty if there is none; `messages`: those the page shows."""

    response: HttpResponse
    shown: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    posted: Posted | None = None

    @property
    def has_led_on(self) -> bool:
        """Whether the view redirected, as it does after success."""
        return 300 <= self.response.status_code < 400


class _PageMessages(BaseStorage):
    """Kept for nobody's next page."""

    def _get(self, *_args: object, **_named: object) -> tuple[list[Any], bool]:
        return [], True

    def _store(self, *_args: object, **_named: object) -> list[Any]:
        return []


def look(person: User, path: str, query: Pairs = (), form: Pairs | None = None) -> PageResponse:
    """Return what the page at `path` shows, posted to if there is a `form`. Nothing can be carried out by it.

    Fields of a confirmation do not reach the page, and `carry_out` refuses a plan that is only looked at, so a view is
    not relied upon. Raises as `ask`.
    """
    fields = None if form is None else [pair for pair in form if pair[0] not in CONFIRMATION_FIELDS]
    return ask(person, path, query, fields, Posted(path, tuple(query), tuple(fields or ()), mode=PostMode.LOOK))


def ask(person: User, path: str, query: Pairs, form: Pairs | None, posted: Posted | None = None) -> PageResponse:
    """Return the answer of the page at `path`, without a prefix of the console's; posted to if there is a `form`.

    `posted`: what a plan that is carried out is told of the request; without one, that it is this one.

    Raises what views raise: Http404, PermissionDenied, GatewayError where a page has no place for it.
    """
    request = InnerRequest()
    request.method = "GET" if form is None else "POST"
    request.path = request.path_info = path
    request.META = {"REQUEST_METHOD": request.method, "SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    request.GET, request.POST = _dictionary(query), _dictionary(form or ())  # type: ignore[assignment]  # immutable
    match = request.resolver_match = resolve(path)
    request.user, request.session, request.shown = person, SessionBase(), {}
    request.htmx = HtmxDetails(request)
    request._messages = _PageMessages(request)
    refuse_elsewhere(match.func)
    with posting(posted or Posted.of(request)) as replayed:
        response = match.func(request, *match.args, **match.kwargs)
    return PageResponse(
        response, request.shown, tuple(_in_words(message.message) for message in request._messages), replayed
    )


def why_of(answer: PageResponse) -> str:
    """Return the page's own reason against it."""
    sentences = [str(answer.shown.get("error") or ""), str(answer.shown.get("sentence") or "")]
    form = answer.shown.get("form")
    if isinstance(form, BaseForm) and form.is_bound:
        for name, errors in form.errors.items():
            place = "" if name == "__all__" else f"{name}: "
            sentences += [f"{place}{error}" for error in errors]
    return " ".join(name for name in sentences if name)


def _in_words(message: object) -> str:
    """Return the message without links to pages."""
    if not isinstance(message, SafeData):
        return str(message)
    return unescape(strip_tags(_LINK.sub("", str(message)))).strip()


def _dictionary(pairs: Pairs) -> QueryDict:
    query_dict = QueryDict(mutable=True)
    for name, value in pairs:
        query_dict.appendlist(name, value)
    query_dict._mutable = False
    return query_dict
