"""The pages for no: each says what happened and what to do."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from console.kit.access.rights import REFUSALS, Right
from console.kit.audit.refusals import count_refusal

UNKNOWN_PAGE = "There is nothing at this address. A topic or process of this name may have been deleted."
BROKEN = "The console could not do this; the fault is ours, and its log says more. Try again in a moment."
UNREADABLE = "The console cannot read what was sent. Nothing was changed."
TOO_LARGE = "This is more than the console takes at once, {limit} bytes. Nothing was changed."
TOO_MANY = "These are more fields than the console takes at once, {limit}. Nothing was changed."
OUT_OF_DATE = "The page was open too long or came from another site. Load it again and repeat what you did."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django refused to parse, before any view."""
    match exception:
        case RequestDataTooBig():
            return _page(request, 413, "Too large", TOO_LARGE.format(limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE))
        case TooManyFieldsSent():
            return _page(request, 400, "Too many fields", TOO_MANY.format(limit=settings.DATA_UPLOAD_MAX_NUMBER_FIELDS))
    return _page(request, 400, "Not understood", UNREADABLE)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = str(exception) or REFUSALS[Right.VIEW]
    count_refusal(request)
    return _page(request, 403, "Not allowed", sentence)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = str(exception.args[0]) if exception.args and isinstance(exception.args[0], str) else UNKNOWN_PAGE
    return _page(request, 404, "Not found", sentence)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    count_refusal(request)
    return _page(request, 403, "Please repeat", OUT_OF_DATE)


def broken(request: HttpRequest) -> HttpResponse:
    """Draw the error page without the frame and its database queries, which may be what is broken."""
    html = render_to_string("web/refusal.html", {"title": "Something went wrong", "sentence": BROKEN})
    return HttpResponse(html, status=500)


def _page(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    return render(request, "web/refusal.html", {"title": title, "sentence": sentence}, status=status)
