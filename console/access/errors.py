"""The pages for no: each says what happened and what to do."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from console.access.rights import REFUSALS, Right

UNKNOWN_PAGE = "There is nothing at this address. A topic or process of this name may have been deleted."
OUT_OF_DATE = "The page was open too long or came from elsewhere. Load it again and repeat what you did."


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = str(exception) or REFUSALS[Right.VIEW]
    return _page(request, 403, "Not allowed", sentence)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    sentence = str(exception.args[0]) if exception.args and isinstance(exception.args[0], str) else UNKNOWN_PAGE
    return _page(request, 404, "Not found", sentence)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _page(request, 403, "Please repeat", OUT_OF_DATE)


def _page(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    return render(request, "access/refusal.html", {"title": title, "sentence": sentence}, status=status)
