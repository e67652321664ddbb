"""The request that a page gets, and which of its methods are safe.

Django's own type names neither the user behind the login nor what django-htmx adds.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.contrib.messages.storage.base import BaseStorage
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

#: Methods of requests that change nothing (RFC 9110, 9.2.1).
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class HtmxRequest(HttpRequest):
    """A request behind HtmxMiddleware, for annotations only; its user may be anonymous."""

    htmx: HtmxDetails


class UserRequest(HtmxRequest):
    """A request of a logged-in user, for annotations only: LoginRequiredMiddleware lets no other reach a page.

    A view that is `login_not_required` takes an HttpRequest or an HtmxRequest.
    """

    user: User


class InnerRequest(UserRequest):
    """A request for a page that is made within the process (`api/door.py`): the page is not drawn.

    `shown`: what the template would have been drawn of.
    """

    shown: Mapping[str, Any]
    _messages: BaseStorage
