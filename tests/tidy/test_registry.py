"""One API, one file, one line in the list."""

from broker.handlers.registry import HANDLERS
from broker.protocol.messages import MESSAGES
from tests.tidy.sources import ROOT

SUPPORT = {
    "__init__",
    "handler",
    "registry",
    "commit_partitions",
    "group_request",
    "transaction_request",
    "config_resources",
    "coordinator_response",
    "deduplicate",
    "fetched_topics",
    "follower_fetch",
    "ask_controller",
    "authorization",
    "acl_request",
    "broker_loggers",
    "without_listener",
    "delegation_token_request",
    "telemetry_request",
}


def test_every_handler_file_is_in_the_registry():
    files = {path.stem for path in (ROOT / "broker" / "handlers").glob("*.py")} - SUPPORT
    assert files == {handler.api.name.lower() for handler in HANDLERS}


def test_every_handler_serves_versions_that_are_declared():
    for handler in HANDLERS:
        first, last = MESSAGES[handler.api].request.versions
        assert first <= handler.served[0] <= handler.served[1] <= last, handler.api.name


def test_messages_are_in_the_file_of_their_api():
    for pair in MESSAGES.values():
        name = pair.request.api.name.lower()
        assert pair.request.__module__ == f"broker.protocol.messages.{name}"
        assert pair.response.__module__ == pair.request.__module__
