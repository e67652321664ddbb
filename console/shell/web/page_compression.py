"""Pages travel compressed: over a mobile line a page of 50 KB is what its first paint waits for."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class PageCompressionMiddleware(GZipMiddleware):
    """Leaves files alone: a stream of records is shown as it comes. The length of a page tells nothing of its secrets:
    Django masks its token anew for each page, and adds a random number of bytes."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_page = not response.streaming and response.headers.get("Content-Type", "").startswith("text/html")
        return super().process_response(request, response) if is_page else response
