"""Registrations that are refused are told of their subjects, with how often, since when and why."""

from broker.common.security_limits import REGISTRY_REFUSALS_KEPT_MAX
from broker.registry.errors import RegistryError, unprocessable
from broker.registry.refusals import EPISODE_MS, RegistrationRefusals

RECORD = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}
WIDER = RECORD | {"fields": [*RECORD["fields"], {"name": "b", "type": "int"}]}
COMPATIBLE = RECORD | {"fields": [*RECORD["fields"], {"name": "b", "type": "int", "default": 0}]}


async def refused(registry) -> list[dict]:
    return (await registry.ask("GET", "/refused-registrations")).body


async def test_an_incompatible_schema_that_is_sent_again_and_again_is_told_until_one_is_taken(registry):
    await registry.register("orders-value", RECORD)
    assert await refused(registry) == []
    for _ in range(3):
        assert (await registry.register("orders-value", WIDER)).status == 409
    [entry] = await refused(registry)
    assert (entry["subject"], entry["count"], entry["error_code"]) == ("orders-value", 3, 40901)
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in entry["message"]
    assert (entry["client"], entry["first"] <= entry["last"]) == ("127.0.0.1", True)
    await registry.register("orders-value", COMPATIBLE)
    assert await refused(registry) == []


async def test_what_is_no_schema_and_what_is_not_permitted_are_refusals_too(registry):
    answer = await registry.register("s", "no schema")
    assert answer.body["message"].startswith("Invalid schema of type AVRO, details: it is no JSON")
    await registry.ask("PUT", "/mode/t", {"mode": "READONLY"})
    await registry.register("t", '"int"')
    assert {entry["subject"]: entry["error_code"] for entry in await refused(registry)} == {"s": 42201, "t": 42205}


def test_another_episode_begins_after_a_pause_and_a_failure_of_the_registry_is_none():
    refusals = RegistrationRefusals()
    refusals.note("s", unprocessable("no"), "10.0.0.1", 1_000)
    refusals.note("s", RegistryError(50004, "no leader"), "10.0.0.1", 2_000)
    [(_, first)] = refusals.lately(2_000)
    assert (first.count, first.first_ms, first.last_ms) == (1, 1_000, 1_000)
    assert refusals.lately(1_000 + EPISODE_MS) == []
    refusals.note("s", unprocessable("no"), "10.0.0.1", 1_000 + EPISODE_MS)
    [(_, second)] = refusals.lately(1_000 + EPISODE_MS)
    assert (second.count, second.first_ms) == (1, 1_000 + EPISODE_MS)


def test_the_subjects_that_were_refused_last_are_kept():
    refusals = RegistrationRefusals()
    for number in range(REGISTRY_REFUSALS_KEPT_MAX + 1):
        refusals.note(f"s{number}", unprocessable("no"), "", number)
    subjects = [subject for subject, _ in refusals.lately(0)]
    assert (len(subjects), subjects[0]) == (REGISTRY_REFUSALS_KEPT_MAX, f"s{REGISTRY_REFUSALS_KEPT_MAX}")
