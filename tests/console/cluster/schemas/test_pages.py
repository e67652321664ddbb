"""Subjects on the pages, and changing them by plan, with the real registry behind."""

import pytest
from django.urls import reverse

from console.cluster.schemas.client import RegistryClient
from console.cluster.schemas.configuration import RegistryAddress
from console.cluster.schemas.registry import NAMES, RegisteredText, RegistryGateway, TextReference
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import RefusedError
from console.state.clusters.models import Topic
from tests.console.cluster.schemas.conftest import ORDER, ORDER_WITH_NOTE, ORDER_WITH_PRICE
from tests.console.confirming import digest_in
from tests.zookeeper_server import free_ports

pytestmark = pytest.mark.timeout(240)


def text_of(response) -> str:
    return response.content.decode()


def confirmed(client, address: str, fields: dict[str, object], **more: str):
    """Planned, looked at, and confirmed."""
    planned = client.post(address, fields)
    return planned, client.post(address, {**fields, "digest": digest_in(planned), **more})


def test_a_list_has_what_is_registered_and_finds_it(registry, viewer, client_of, topic, cluster):
    registry.register(f"{topic}-value", RegisteredText(ORDER))
    registry.register(f"{topic}-value", RegisteredText(ORDER_WITH_NOTE))
    registry.set_level(f"{topic}-value", "FULL")
    page = client_of(viewer).get(reverse("schemas"), {"search": topic})
    (row,) = page.context["page"]
    assert (row.name, row.count, row.latest.version, row.latest.type, row.level) == (
        f"{topic}-value", 2, 2, "AVRO", "FULL",
    )  # fmt: skip
    assert "BACKWARD" in text_of(page)
    assert list(client_of(viewer).get(reverse("schemas"), {"search": "nobody"}).context["page"]) == []


def test_a_page_of_many_subjects_asks_only_about_its_own(address, registry, settings, viewer, client_of, monkeypatch):
    requests = []

    class Counting(RegistryClient):
        def ask(self, method, *parts, query=None, body=None):
            requests.append(parts)
            return super().ask(method, *parts, query=query, body=body)

    settings.SCHEMA_REGISTRY = Counting(address)
    NAMES.forget()
    monkeypatch.setattr(
        RegistryGateway, "subjects", lambda self, *, deleted: [f"many-{index:05}-value" for index in range(10_000)]
    )
    page = client_of(viewer).get(reverse("schemas"), {"page": "400"})
    assert page.context["page"].paginator.count == 10_000
    assert page.context["page"][-1].name == "many-09999-value"
    assert len(requests) <= 25 * 3 + 2


def test_two_versions_stand_side_by_side(registry, viewer, client_of, topic, cluster):
    subject = f"{topic}-value"
    for item in (ORDER, ORDER_WITH_NOTE):
        registry.register(subject, RegisteredText(item))
    page = client_of(viewer).get(reverse("schema-subject", args=[subject]))
    comparison = page.context["view"].comparison
    assert (comparison.old.version, comparison.new.version) == (1, 2)
    assert any(row.kind == "come" and '"note"' in row.new for row in comparison.rows)
    back = client_of(viewer).get(reverse("schema-subject", args=[subject]), {"from": 2, "to": 1})
    assert any(row.kind == "gone" and '"note"' in row.old for row in back.context["view"].comparison.rows)


def test_a_subject_names_its_topic_its_readers_and_its_references(registry, viewer, client_of, topic, cluster, collect):
    cluster.create_topic(topic, 1, 1)
    cluster.append(topic, 0, 1)
    cluster.commit("readers-of-it", topic, 0, 1)
    collect()
    registry.register("shared/common.Id", RegisteredText('{"type":"fixed","name":"Id","namespace":"common","size":4}'))
    uses = ORDER.replace('"int"', '"common.Id"')
    registry.register(
        f"{topic}-value", RegisteredText(uses, references=(TextReference("common.Id", "shared/common.Id", 1),))
    )
    page = text_of(client_of(viewer).get(reverse("schema-subject", args=[f"{topic}-value"])))
    assert "readers-of-it" in page
    assert reverse("topic-records", args=[topic]) in page
    assert reverse("schema-subject", args=["shared/common.Id"]) in page
    referred = client_of(viewer).get(reverse("schema-subject", args=["shared/common.Id"]))
    assert (f"{topic}-value", 1) in referred.context["view"].referrers


def test_a_schema_is_tried_out_refused_with_reasons_and_then_registered(registry, operator, client_of, topic, cluster):
    subject, page = f"{topic}-value", client_of(operator)
    registry.register(subject, RegisteredText(ORDER))
    fields = {"subject": subject, "type": "AVRO", "references": ""}
    tried = page.post(reverse("schema-register"), fields | {"text": ORDER_WITH_PRICE})
    assert not tried.context["verdict"].is_compatible
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in text_of(tried)
    assert 'name="digest"' not in text_of(tried)
    assert registry.versions(subject) == [1]
    planned, done = confirmed(page, reverse("schema-register"), fields | {"text": ORDER_WITH_NOTE})
    assert "It fits" in text_of(planned)
    assert done.status_code == 302
    assert registry.versions(subject) == [1, 2]
    event = AuditEvent.objects.latest("pk")
    assert (event.action, event.object_name, event.result) == ("register schema", subject, "done")
    again = page.post(reverse("schema-register"), fields | {"text": ORDER_WITH_NOTE})
    assert "It is there already" in text_of(again)


def test_a_plan_that_others_overtook_is_refused(registry, operator, client_of, topic, cluster):
    subject, page = f"{topic}-value", client_of(operator)
    registry.register(subject, RegisteredText(ORDER))
    fields = {"subject": subject, "type": "AVRO", "references": "", "text": ORDER_WITH_NOTE}
    planned = page.post(reverse("schema-register"), fields)
    other = ORDER_WITH_NOTE.replace("note", "other")
    registry.register(subject, RegisteredText(other))
    done = page.post(reverse("schema-register"), fields | {"digest": digest_in(planned)})
    assert done.status_code == 409
    assert registry.versions(subject) == [1, 2]


def test_what_is_no_schema_is_told_as_the_registry_tells_it(registry, operator, client_of, topic, cluster):
    fields = {"subject": f"{topic}-value", "type": "AVRO", "references": "", "text": '{"type": "nonsense"}'}
    page = client_of(operator).post(reverse("schema-register"), fields)
    assert "nonsense" in " ".join(page.context["verdict"].messages)


def test_compatibility_is_changed_and_changed_back(registry, operator, client_of, topic, cluster):
    subject, page = f"{topic}-value", client_of(operator)
    registry.register(subject, RegisteredText(ORDER))
    address = reverse("schema-settings", args=[subject])
    _, done = confirmed(page, address, {"level": "FULL_TRANSITIVE", "mode": ""})
    assert done.status_code == 302
    assert registry.level(subject) == "FULL_TRANSITIVE"
    confirmed(page, address, {"level": "", "mode": "READONLY"})
    assert (registry.level(subject), registry.mode(subject)) == (None, "READONLY")
    confirmed(page, address, {"level": "", "mode": ""})
    assert registry.mode(subject) is None


def test_the_default_of_all_is_changed(registry, operator, client_of, cluster):
    address = reverse("schema-defaults")
    try:
        _, done = confirmed(client_of(operator), address, {"level": "FULL", "mode": "READWRITE"})
        assert done.status_code == 302
        assert registry.level() == "FULL"
    finally:
        registry.set_level("", "BACKWARD")


def test_a_version_is_deleted_softly_and_then_for_good_by_its_name(registry, operator, client_of, topic, cluster):
    subject, page = f"{topic}-value", client_of(operator)
    for item in (ORDER, ORDER_WITH_NOTE):
        registry.register(subject, RegisteredText(item))
    address = reverse("schema-delete", args=[subject])
    _, done = confirmed(page, address, {"version": 1, "permanent": ""})
    assert done.status_code == 302
    assert registry.versions(subject) == [2]
    assert registry.versions(subject, deleted=True) == [1, 2]
    planned, refused = confirmed(page, address, {"version": 1, "permanent": "on"})
    assert refused.status_code == 422
    assert "cannot be decoded any more" in text_of(planned)
    confirmed(page, address, {"version": 1, "permanent": "on"}, typed_name=f"{subject} version 1")
    assert registry.versions(subject, deleted=True) == [2]


def test_a_whole_subject_goes_and_is_still_shown_as_deleted(registry, operator, client_of, topic, cluster):
    subject, page = f"{topic}-value", client_of(operator)
    registry.register(subject, RegisteredText(ORDER))
    confirmed(page, reverse("schema-delete", args=[subject]), {"version": "", "permanent": ""})
    assert list(page.get(reverse("schemas"), {"search": topic}).context["page"]) == []
    (row,) = page.get(reverse("schemas"), {"search": topic, "deleted": "on"}).context["page"]
    assert row.is_deleted
    shown = page.get(reverse("schema-subject", args=[subject]))
    assert shown.context["view"].is_deleted
    confirmed(page, reverse("schema-delete", args=[subject]), {"version": "", "permanent": "on"}, typed_name=subject)
    assert page.get(reverse("schema-subject", args=[subject])).status_code == 404


def test_a_subject_that_was_deleted_is_restored_in_its_order_with_its_ids(
    registry, operator, client_of, topic, cluster
):
    subject, page = f"{topic}-value", client_of(operator)
    ids = [registry.register(subject, RegisteredText(item)) for item in (ORDER, ORDER_WITH_NOTE)]
    _, done = confirmed(page, reverse("schema-delete", args=[subject]), {"version": "", "permanent": ""})
    html = text_of(page.get(done.url))
    address = reverse("schema-restore", args=[subject])
    assert f'href="{address}?version="' in html
    _, done = confirmed(page, address, {"version": ""})
    assert done.status_code == 302
    versions = registry.versions(subject)
    assert versions == [3, 4]
    assert [registry.version(subject, version).id for version in versions] == ids
    assert (AuditEvent.objects.latest("pk").action, AuditEvent.objects.latest("pk").result) == (
        "restore schema",
        "done",
    )
    assert "nothing to restore" in text_of(page.get(address))


def test_one_version_is_restored_alone_unless_it_does_not_fit_any_more(registry, operator, client_of, topic, cluster):
    subject, page = f"{topic}-value", client_of(operator)
    address = reverse("schema-restore", args=[subject])
    for item in (ORDER, ORDER_WITH_NOTE):
        registry.register(subject, RegisteredText(item))
    registry.delete(subject, 2, permanent=False)
    confirmed(page, address, {"version": 2})
    assert registry.versions(subject) == [1, 3]
    registry.delete(subject, 1, permanent=False)
    registry.delete(subject, 3, permanent=False)
    registry.register(subject, RegisteredText('{"type":"string"}'))
    planned, refused = confirmed(page, address, {"version": 1})
    assert "it does not fit" in planned.context["plan"].obstacle
    assert (refused.status_code, registry.versions(subject)) == (409, [4])


def test_what_another_schema_refers_to_is_not_deleted(registry, operator, client_of, topic, cluster):
    common, page = f"{topic}-common-value", client_of(operator)
    registry.register(common, RegisteredText('{"type":"fixed","name":"Id","namespace":"common","size":4}'))
    registry.register(
        f"{topic}-value",
        RegisteredText(ORDER.replace('"int"', '"common.Id"'), references=(TextReference("common.Id", common, 1),)),
    )
    _, refused = confirmed(page, reverse("schema-delete", args=[common]), {"version": 1, "permanent": ""})
    assert refused.status_code == 422
    assert "reference" in refused.context["error"].lower()
    assert AuditEvent.objects.latest("pk").result == "refused"


@pytest.mark.parametrize("name", ["schema-settings", "schema-delete", "schema-restore"])
def test_a_viewer_changes_nothing(name, registry, viewer, client_of, topic, cluster):
    registry.register(f"{topic}-value", RegisteredText(ORDER))
    assert client_of(viewer).post(reverse(name, args=[f"{topic}-value"]), {}).status_code == 403


def test_a_subject_of_a_hidden_topic_is_nowhere(registry, limited, client_of, cluster):
    hidden, seen = "secret-plans", "orders-by-name"
    common = '{"type":"fixed","name":"Id","namespace":"common","size":44}'
    schema_id = registry.register(f"{hidden}-value", RegisteredText(common))
    registry.register(":.team:secret-plans-key", RegisteredText(ORDER))
    registry.register("secret.Record", RegisteredText(common.replace("common", "secret")))
    refers = RegisteredText(
        ORDER.replace('"int"', '"common.Id"'), references=(TextReference("common.Id", f"{hidden}-value", 1),)
    )
    registry.register(f"{seen}-value", refers)
    page = client_of(limited)
    listed = text_of(page.get(reverse("schemas"), {"deleted": "on"}))
    assert f"{seen}-value" in listed
    assert "secret" not in listed
    subject = text_of(page.get(reverse("schema-subject", args=[f"{seen}-value"])))
    assert "And others that you may not see" in subject
    assert "secret" not in subject
    for name in ("schema-subject", "schema-settings", "schema-delete"):
        answers = {
            page.get(reverse(name, args=[item])).status_code for item in (f"{hidden}-value", "secret-none-value")
        }
        assert answers == {403}, name
    assert page.get(reverse("schema-subject", args=["secret.Record"])).status_code == 403
    for item in (schema_id, 999_999):
        assert page.get(reverse("schema-id", args=[item])).status_code == 404
    fields = {"subject": "orders-2-value", "type": "AVRO", "text": refers.text}
    tried = page.post(reverse("schema-register"), fields | {"references": f"common.Id {hidden}-value 1"})
    assert tried.status_code == 403


def test_a_tenant_registers_for_topics_in_reach_and_no_others(registry, tenant, client_of, cluster):
    page = client_of(tenant)
    fields = {"type": "AVRO", "text": ORDER, "references": ""}
    assert page.post(reverse("schema-register"), fields | {"subject": "orders-9-value"}).status_code == 200
    assert page.post(reverse("schema-register"), fields | {"subject": "payments-value"}).status_code == 403
    assert page.get(reverse("schema-defaults")).status_code == 403


def test_a_registry_that_is_away_is_told_with_what_to_do_and_not_asked_again_at_once(
    settings, operator, client_of, cluster
):
    now = [0.0]
    settings.SCHEMA_REGISTRY = client = RegistryClient(
        RegistryAddress(f"http://127.0.0.1:{free_ports(1)[0]}"), now_s=lambda: now[0]
    )
    NAMES.forget()
    page = client_of(operator)
    for address in (reverse("schemas"), reverse("schema-subject", args=["x-value"]), reverse("schema-defaults")):
        assert "BARNABAS_SCHEMA_REGISTRY_URL" in text_of(page.get(address)), address
    sent = []
    client._client.send = lambda *arguments, **named: sent.append(arguments)
    page.get(reverse("schemas"))
    assert sent == []
    now[0] = 6.0
    with pytest.raises(AttributeError):
        client.ask("GET", "subjects")
    assert len(sent) == 1


def test_no_registry_is_told_as_such(viewer, client_of, cluster):
    assert "No schema registry is configured" in text_of(client_of(viewer).get(reverse("schemas")))


def test_a_name_is_one_part_of_the_path_whatever_it_is(registry, topic):
    for name in (f"{topic}/../a b%2F?x#y", f"{topic}ä"):
        registry.register(name, RegisteredText(ORDER))
        assert registry.versions(name) == [1]
        assert name in registry.subjects()
    with pytest.raises(RefusedError):
        registry.versions("..")


def test_topics_are_not_needed_for_subjects_to_be_shown(registry, viewer, client_of, topic, cluster):
    registry.register(f"{topic}-value", RegisteredText(ORDER))
    assert not Topic.objects.filter(name=topic).exists()
    page = client_of(viewer).get(reverse("schema-subject", args=[f"{topic}-value"]))
    assert "is not there" in text_of(page)
