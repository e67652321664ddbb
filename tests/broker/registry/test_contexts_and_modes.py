"""Contexts, modes and answers as Confluent's registry of 8.x has them."""

import json

import pytest

from tests.broker.registry.memory_registry import memory_registry

INT, TEXT = '"int"', '"string"'
C = ":.c:"


async def body(registry, path, method="GET", content=None):
    return (await registry.ask(method, path, content)).body


async def test_an_id_is_answered_with_the_version_that_it_means(registry):
    await registry.register("s", INT, metadata={"properties": {"a": "b"}})
    version = await body(registry, "/subjects/s/versions/1")
    assert version == {
        "subject": "s", "version": 1, "id": 1, "guid": version["guid"], "schemaType": "AVRO", "schema": INT,
        "metadata": {"properties": {"a": "b"}}, "ts": 1_000, "deleted": False,
    }  # fmt: skip
    for path in ("/schemas/ids/1", "/schemas/ids/1?subject=s", "/schemas/ids/1?format=resolved"):
        assert await body(registry, path) == version, path
    assert await body(registry, "/schemas/ids/1?fetchMaxId=true") == version | {"maxId": 1}
    of_guid = await body(registry, f"/schemas/guids/{version['guid']}")
    assert of_guid == {name: value for name, value in version.items() if name not in ("subject", "version", "id")}
    looked_up = await body(registry, "/subjects/s", "POST", {"schema": INT})
    assert looked_up == version
    await registry.ask("DELETE", "/subjects/s")
    assert (await body(registry, "/schemas/ids/1"))["deleted"] is True


async def test_an_id_is_looked_for_under_its_subject_in_every_context(registry):
    await registry.register("other", INT)
    await registry.register(f"{C}s", TEXT)
    assert (await body(registry, "/schemas/ids/1?subject=s"))["subject"] == f"{C}s"
    assert (await body(registry, "/schemas/ids/1?subject=s&format=resolved"))["schema"] == TEXT
    assert (await body(registry, "/schemas/ids/1?subject=unknown"))["subject"] == "other"
    assert (await body(registry, f"/schemas/ids/1?subject={C}"))["schema"] == TEXT
    assert (await body(registry, "/contexts/.c/schemas/ids/1"))["schema"] == TEXT
    assert (await body(registry, "/schemas/ids/7?subject=s"))["error_code"] == 40403
    assert (await body(registry, "/subjects/s/versions/latest"))["subject"] == f"{C}s"
    assert (await body(registry, "/subjects/s", "POST", {"schema": TEXT}))["subject"] == f"{C}s"
    assert (await body(registry, "/subjects/t", "POST", {"schema": TEXT}))["error_code"] == 40401


async def test_subjects_and_schemas_are_listed_by_context_and_prefix(registry):
    for subject in ("orders", "items", f"{C}orders", ":.d:orders2"):
        await registry.register(subject, INT)
    assert await body(registry, "/subjects") == [":.c:orders", ":.d:orders2", "items", "orders"]
    assert await body(registry, "/subjects?subjectPrefix=") == ["items", "orders"]
    assert await body(registry, "/subjects?subjectPrefix=:*:orders") == [":.c:orders", ":.d:orders2", "orders"]
    assert await body(registry, f"/subjects?subjectPrefix={C}") == [":.c:orders"]
    assert await body(registry, "/contexts/.c/subjects") == [":.c:orders"]
    assert await body(registry, "/contexts/:.:/subjects") == ["items", "orders"]

    async def schemas(query):
        return [version["subject"] for version in await body(registry, f"/schemas{query}")]

    assert await schemas("") == ["items", "orders"]
    assert await schemas("?subjectPrefix=:*:orders") == [":.c:orders", ":.d:orders2", "orders"]
    assert await schemas("?subjectPrefix=:.d:o") == [":.d:orders2"]
    assert await schemas("?ruleType=CEL") == []
    assert await body(registry, "/contexts") == [".", ".c", ".d"]
    assert await body(registry, "/contexts?contextPrefix=.d") == [".d"]


async def test_what_is_only_deleted_is_listed_on_demand(registry):
    await registry.register("s", INT)
    await registry.ask("PUT", "/config/s", {"compatibility": "NONE"})
    await registry.register("s", TEXT)
    await registry.ask("DELETE", "/subjects/s/versions/1")
    assert await body(registry, "/subjects/s/versions") == [2]
    assert await body(registry, "/subjects/s/versions?deletedOnly=true") == [1]
    assert await body(registry, "/subjects/s/versions?deletedAsNegative=true") == [-1, 2]
    assert await body(registry, "/subjects?deletedOnly=true") == []
    await registry.ask("DELETE", "/subjects/s")
    assert await body(registry, "/subjects?deletedOnly=true") == ["s"]


async def test_an_empty_context_may_go(registry):
    await registry.register(f"{C}s", INT)
    assert (await registry.ask("DELETE", "/contexts/.c")).body["error_code"] == 42211
    await registry.ask("DELETE", f"/subjects/{C}s")
    await registry.ask("DELETE", f"/subjects/{C}s?permanent=true")
    assert (await registry.ask("DELETE", "/contexts/.c")).status == 204
    assert await body(registry, "/contexts") == ["."]
    assert (await registry.ask("DELETE", "/contexts/.")).body["error_code"] == 42211


@pytest.mark.parametrize("default", [":.:", "%3A.%3A"])
async def test_the_default_context_is_what_is_set_for_all(registry, default):
    assert await body(registry, f"/mode/{default}") == {"mode": "READWRITE"}
    assert (await body(registry, f"/config/{default}"))["compatibilityLevel"] == "BACKWARD"
    await registry.ask("PUT", f"/config/{default}", {"compatibility": "FULL"})
    assert (await body(registry, "/config"))["compatibilityLevel"] == "FULL"
    await registry.ask("PUT", f"/mode/{default}", {"mode": "READONLY"})
    assert await body(registry, "/mode") == {"mode": "READONLY"}
    assert (await body(registry, "/mode/:.__GLOBAL:"))["mode"] == "READWRITE"


async def test_a_configuration_is_answered_as_it_is_from_now_on(registry):
    assert await body(registry, "/config/s", "PUT", {"normalize": True}) == {"normalize": True}
    changed = await body(registry, "/config/s", "PUT", {"compatibility": "full", "alias": "t"})
    assert changed == {"normalize": True, "compatibility": "FULL", "alias": "t"}
    assert await body(registry, "/config/s", "PUT", {"alias": None}) == {"normalize": True, "compatibility": "FULL"}
    await registry.ask("PUT", "/mode/s", {"mode": "READONLY"})
    for method, content in (("PUT", {"normalize": False}), ("DELETE", None)):
        assert (await body(registry, "/config/s", method, content))["error_code"] == 42205


async def test_a_mode_is_cleared_by_null(registry):
    await registry.ask("PUT", "/mode/s", {"mode": "READONLY"})
    assert await body(registry, "/mode/s", "PUT", {"mode": None}) == {"mode": None}
    assert (await body(registry, "/mode/s"))["error_code"] == 40409
    assert (await body(registry, "/mode/s", "PUT", {"mode": "LATER"}))["error_code"] == 42204
    assert (await body(registry, "/mode/s", "PUT", {"mode": "FORWARD"}))["error_code"] == 42204
    assert await body(registry, "/mode/:.__GLOBAL:", "PUT", {"mode": "FORWARD"}) == {"mode": "FORWARD"}


async def test_modes_of_a_contexts_subjects_go_with_its_own_on_demand(registry):
    for subject in ("s", f"{C}s", f"{C}t", ":.d:s", C):
        await registry.ask("PUT", f"/mode/{subject}", {"mode": "READONLY"})
    assert await body(registry, f"/mode/{C}?recursive=true", "DELETE") == {"mode": "READONLY"}
    for subject in (C, f"{C}s", f"{C}t"):
        assert (await body(registry, f"/mode/{subject}"))["error_code"] == 40409
    assert await body(registry, "/mode/:.d:s") == {"mode": "READONLY"}
    assert await body(registry, f"/mode/{C}?recursive=true", "DELETE") == {"mode": None}
    assert (await body(registry, f"/mode/{C}", "DELETE"))["error_code"] == 40401
    assert await body(registry, "/mode?recursive=true", "DELETE") == {"mode": "READWRITE"}
    assert (await body(registry, "/mode/s"))["error_code"] == 40409


async def test_an_alias_stands_for_its_subject_wherever_a_path_names_it(registry):
    await registry.ask("PUT", "/config/old", {"alias": "new"})
    assert (await registry.register("old", INT)).body["id"] == 1
    assert await body(registry, "/subjects") == ["new"]
    assert await body(registry, "/subjects/old/versions") == [1]
    assert (await body(registry, "/schemas/ids/1?subject=old"))["subject"] == "new"
    assert (await body(registry, "/compatibility/subjects/old/versions", "POST", {"schema": INT}))["is_compatible"]
    await registry.ask("PUT", f"/config/{C}old", {"alias": "new"})
    await registry.register(f"{C}old", INT)
    assert f"{C}new" in await body(registry, "/subjects")
    assert await body(registry, "/subjects/old", "DELETE") == [1]


REFERRED = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "z": 1, "b": 2}]}


async def test_a_look_up_with_references_written_out_is_normalized_too(registry):
    """Schema-registry's client may send all in one text, normalized by itself."""
    await registry.register("r", REFERRED)
    using = {"type": "record", "name": "U", "y": 1, "b": 2, "fields": [{"name": "r", "type": "R"}]}
    references = [{"name": "R", "subject": "r", "version": 1}]
    await registry.register("u", using, references=references)
    normal = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "b": 2, "z": 1}]}
    whole = {"type": "record", "name": "U", "fields": [{"name": "r", "type": normal}], "b": 2, "y": 1}
    subject_body = await body(registry, "/subjects/u?normalize=true", "POST", {"schema": json.dumps(whole)})
    assert subject_body.get("version") == 1, subject_body


async def test_one_name_in_two_versions_is_refused_where_versions_are_strict():
    async with memory_registry(schema_providers_reference_versions_strict="true") as registry:
        await registry.register("r", REFERRED)
        more = {**REFERRED, "doc": "later"}
        await registry.register("r", more)
        first, second = ([{"name": "R", "subject": "r", "version": version}] for version in (1, 2))
        await registry.register("m", {"type": "record", "name": "M", "fields": []}, references=first)
        using = {"type": "record", "name": "U", "fields": []}
        both = [*second, {"name": "M", "subject": "m", "version": 1}]
        answer = await registry.register("u", using, references=both)
        assert answer.body["error_code"] == 42201
        assert 'Conflicting reference versions for "R": version' in answer.body["message"]


async def test_subjects_without_a_name_are_refused_where_the_registry_rejects_them():
    async with memory_registry(schema_reject_empty_subject="true") as registry:
        assert (await registry.register(C, INT)).body["error_code"] == 42208
        assert (await registry.register("*", INT)).body["error_code"] == 42208
        assert (await registry.register(":.__GLOBAL:s", INT)).body["error_code"] == 42208
    async with memory_registry() as registry:
        assert (await registry.register(C, INT)).body["version"] == 1
        assert (await registry.register("__EMPTY", INT)).body["error_code"] == 42208


async def test_configured_headers_are_in_every_answer():
    headers = 'set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store", setDate Expires: 0'
    async with memory_registry(response_http_headers_config=headers) as registry:
        for path in ("/subjects", "/nothing", "/schemas/ids/1"):
            answer = await registry.ask("GET", path)
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["cache-control"] == "no-cache, no-store"
            assert answer.headers["expires"].endswith(" GMT")


async def test_the_deployment_is_told_as_configured():
    async with memory_registry(schema_registry_metadata_deployment_attributes="a,b") as registry:
        assert await body(registry, "/v1/metadata/deployment") == {"attributes": ["a", "b"]}
        assert "version" in await body(registry, "/v1/metadata/version")
        assert "scope" in await body(registry, "/v1/metadata/id")
