"""Several groups deleted by one plan: shown, confirmed once, each group's offsets kept."""

import html
import re

import pytest

from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.plans.models import KeptInverse

MANY = "/consumers/+many/"
BOTH = f"{MANY}?group=readers&group=batch"


@pytest.fixture(autouse=True)
def _groups(cluster, collect):
    cluster.create_topic("orders", 1, 2)
    cluster.append("orders", 0, 100)
    for name, offset in (("readers", 60), ("batch", 10)):
        cluster.commit(name, "orders", 0, offset)
    collect()


def names(cluster) -> list[str]:
    return sorted(group.group_id for group in cluster.groups.describe().groups)


def planned(client, address: str = BOTH) -> list[tuple[str, str]]:
    """What the form of the plan would post."""
    text = client.get(address).content.decode()
    form = text[text.index('class="apply"') :]
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[: form.index("</form>")])
    return [(name, html.unescape(value)) for name, value in fields]


def post(client, fields: list[tuple[str, str]], typed: str = "delete 2 groups"):
    data = {"typed_name": typed}
    for name, value in fields:
        data.setdefault(name, []).append(value) if name == "group" else data.update({name: value})
    return client.post(MANY, data, follow=True)


def test_the_plan_names_each_group_with_its_offsets(operator, client_of, cluster):
    text = html.unescape(client_of(operator).get(BOTH).content.decode())
    assert text.index("batch") < text.index("readers")
    assert text.count("1 committed offset") == 2
    assert "kafka-consumer-groups" in text
    assert names(cluster) == ["batch", "readers"]


def test_all_are_deleted_and_what_each_had_is_kept(operator, client_of, cluster):
    client = client_of(operator)
    response = post(client, planned(client))
    assert b"2 groups deleted." in response.content
    assert names(cluster) == []
    assert dict(KeptInverse.objects.values_list("object_name", "values")) == {
        "batch": {"orders": {"0": 10}},
        "readers": {"orders": {"0": 60}},
    }
    event = AuditEvent.objects.get()
    assert (event.action, event.result) == ("delete consumer groups", "done")


def test_a_wrong_word_deletes_none(operator, client_of, cluster):
    client = client_of(operator)
    assert post(client, planned(client), "delete 1 group").status_code == 422
    assert names(cluster) == ["batch", "readers"]


def test_offsets_that_moved_since_the_plan_was_shown_make_it_another(operator, client_of, cluster):
    client = client_of(operator)
    fields = planned(client)
    cluster.commit("batch", "orders", 0, 11)
    assert post(client, fields).status_code == 409
    assert names(cluster) == ["batch", "readers"]


def test_one_group_with_members_keeps_all_of_them(operator, client_of, cluster):
    cluster.groups.join("batch", "app", ("orders", 0))
    text = client_of(operator).get(BOTH).content.decode()
    assert 'aria-disabled="true" title="batch: ' in text


@pytest.mark.parametrize("query", ["", "?" + "&".join(f"group=g{number}" for number in range(51))])
def test_none_or_too_many_are_refused_with_a_sentence(query, administrator, client_of, cluster):
    for number in range(50 if query else 0):
        cluster.commit(f"g{number}", "orders", 0, 1)
    response = client_of(administrator).get(f"{MANY}{query}")
    assert b"Select 1 to 50 groups" in response.content or response.status_code == 404


def test_a_group_that_the_person_may_not_change_is_refused(viewer, operator, client_of, cluster):
    assert client_of(viewer).get(BOTH).status_code == 403
    NameRule.objects.create(user=operator, resource="group", pattern="batch", level="nothing")
    assert client_of(operator).get(BOTH).status_code == 403
    assert names(cluster) == ["batch", "readers"]
