"""A producer whose schemas the registry refuses, and a registry that does not answer, are seen on the console."""

import httpx2
import pytest

from console.cluster.schemas.client import RegistryClient
from console.cluster.schemas.configuration import RegistryAddress
from console.cluster.schemas.refused import AWAY_MS, EVERY_MS, RECENT_MS, RefusalWatch
from console.signals.overview.queries import overview_facts
from console.state.clusters.queries import cluster_state
from console.state.clusters.store import ensure_state

MESSAGE = 'Schema being registered is incompatible with an earlier schema for subject "orders-value", details: []'
SUBJECT_KEY = "schema refused:orders-value"


class Registry:
    """Answers `status` and `refused` at the one path; with status 0 nothing answers."""

    def __init__(self) -> None:
        self.status, self.refused, self.paths = 200, [], []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.paths.append(request.url.path)
        if not self.status:
            raise httpx2.ConnectError("refused")
        return httpx2.Response(self.status, json=self.refused)


@pytest.fixture
def registry_says(db, settings) -> Registry:
    ensure_state()
    answers = Registry()
    address = RegistryAddress("http://registry:8081")
    # What did not answer once is asked again at each look here.
    moments = iter(range(0, 1_000_000, 60))
    settings.SCHEMA_REGISTRY = RegistryClient(address, httpx2.MockTransport(answers), lambda: float(next(moments)))
    return answers


@pytest.fixture
def look(registry_says, clock):
    watch = RefusalWatch(clock.now_ms)

    def after(passed_ms: int = EVERY_MS) -> None:
        clock.advance(passed_ms)
        watch.look()

    return after


def refusal(clock, count: int, **more) -> dict:
    at_ms = clock.now_ms()
    fields = {"subject": "orders-value", "count": count, "first": at_ms - 60_000, "last": at_ms, "client": "10.0.0.7"}
    return fields | {"error_code": 40901, "message": MESSAGE} | more


def reasons() -> dict[str, str]:
    return {reason.key: reason.text for reason in overview_facts()["health"].reasons}


def test_a_subject_whose_registrations_are_refused_again_and_again_is_a_reason_with_its_cause(
    look, registry_says, clock, collect, client_of, viewer
):
    collect()
    registry_says.refused = [refusal(clock, 2)]
    look()
    assert SUBJECT_KEY not in reasons(), "a person tries something"
    registry_says.refused = [refusal(clock, 12)]
    look()
    assert reasons()[SUBJECT_KEY] == (
        "A producer's schema for the subject orders-value is refused again and again: the schema is incompatible with "
        "an earlier version."
    )
    page = client_of(viewer).get("/schemas/").content.decode()
    assert "Refused registrations" in page
    assert "incompatible with an earlier schema" in page
    assert "10.0.0.7" in page
    look(RECENT_MS)
    assert SUBJECT_KEY not in reasons(), "it has not tried for long"


def test_who_may_not_see_the_topic_is_not_told_of_its_subject(look, registry_says, clock, client_of, viewer, give_rule):
    registry_says.refused = [refusal(clock, 12)]
    look()
    give_rule(viewer, "nothing", "topic", "orders")
    assert "Refused registrations" not in client_of(viewer).get("/schemas/").content.decode()


@pytest.mark.parametrize("refused", [{"error_code": 404}, [1, "x"], [{"subject": 3}], None])
def test_a_registry_that_tells_something_else_tells_of_no_refusals(look, registry_says, refused):
    registry_says.refused = refused
    look()
    assert (cluster_state().refused_schemas, cluster_state().registry_error) == ([], "")


def test_a_registry_of_another_kind_is_not_taken_for_one_that_is_away(look, registry_says):
    registry_says.status = 404
    look()
    look(AWAY_MS)
    assert cluster_state().registry_error == ""


def test_a_registry_that_does_not_answer_for_a_while_is_a_reason(look, registry_says, collect):
    collect()
    registry_says.status = 0
    look()
    assert "registry silent" not in reasons(), "it may be starting"
    look(AWAY_MS)
    assert reasons()["registry silent"].startswith("The schema registry does not answer")
    registry_says.status = 200
    look()
    assert "registry silent" not in reasons()


def test_the_registry_is_asked_every_few_seconds_only(look, registry_says):
    look()
    look(EVERY_MS - 1)
    assert registry_says.paths == ["/refused-registrations"]
