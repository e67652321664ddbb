"""What another worker answers to a forwarded request is read to a bound."""

from starlette.requests import Request

from broker.common.security_limits import FORWARDED_ANSWER_BYTES_MAX
from broker.connect.rest.forwarding import forward, sender
from tests.broker.common.endless_http import endless_answers


def request(path: str = "/connectors/c", query: bytes = b"") -> Request:
    scope = {"type": "http", "method": "PUT", "path": path, "raw_path": path.encode(), "query_string": query}
    return Request(scope | {"headers": [], "server": ("w", 1), "scheme": "http"})


def test_an_answer_that_never_ends_is_an_error():
    with endless_answers() as (url, sent):
        answer = forward(sender(None), request(), b"{}", url)
    assert answer.status_code == 500
    assert f"longer than {FORWARDED_ANSWER_BYTES_MAX:,} bytes" in answer.body.decode()
    assert sent[0] < 2 * FORWARDED_ANSWER_BYTES_MAX + 16 * 1024 * 1024
