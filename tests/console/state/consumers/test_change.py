"""Resetting and deleting: plan, confirm, apply, undo; who may, and what is kept."""

import html
import re
from datetime import UTC, datetime

import pytest

from console.kit.access.models import NameRule
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import ClusterUnreachableError
from console.kit.plans.models import KeptInverse

RESET = "/consumers/readers/+reset/"
DELETE = "/consumers/readers/+delete/"
FORGET = "/consumers/readers/+forget/?topic=orders"
ADDRESSES = [RESET, DELETE, FORGET]


@pytest.fixture(autouse=True)
def _readers(cluster, collect):
    cluster.create_topic("orders", 2, 2)
    cluster.append("orders", 0, 100)
    cluster.append("orders", 1, 50)
    cluster.commit("readers", "orders", 0, 60)
    cluster.commit("readers", "orders", 1, 10)
    collect()


def committed(cluster) -> dict:
    return {partition: n for (_, partition), n in cluster.groups.describe_one("readers").committed.items()}


def planned(client, address: str) -> tuple[str, dict[str, str]]:
    """The page, and what its form would post."""
    text = client.get(address).content.decode()
    form = text[text.index('class="apply"') :]
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[: form.index("</form>")])
    return text, {name: html.unescape(value) for name, value in fields}


def undo_of(text: str) -> str:
    return html.unescape(re.search(r'href="([^"]*\?undo=\d+)">Plan the undo', text)[1])


def test_the_plan_shows_old_and_new_before_anything_is_done(cluster, operator, client_of):
    text, _ = planned(client_of(operator), f"{RESET}?to=earliest")

    assert re.search(r"orders-0</td><td[^>]*>60</td><td[^>]*><strong>0<", text)
    assert "70 records will be read a second time." in text
    assert "orders,0,0\norders,1,0\n" in html.unescape(text)
    assert "--reset-offsets --from-file offsets.csv --execute" in html.unescape(text)
    assert committed(cluster) == {0: 60, 1: 10}


def test_operator_resets_as_planned_and_the_audit_knows(cluster, operator, client_of):
    client = client_of(operator)
    _, form = planned(client, f"{RESET}?to=latest")
    cluster.append("orders", 0, 7)
    response = client.post(RESET, form, follow=True)

    assert committed(cluster) == {0: 100, 1: 50}
    assert b"Offsets of readers were reset." in response.content
    event = AuditEvent.objects.get()
    assert (event.actor_name, event.action, event.object_name, event.result) == (
        "operator",
        "reset offsets",
        "readers",
        "done",
    )
    assert event.before == {"orders-0": 60, "orders-1": 10}
    assert event.after == {"orders-0": 100, "orders-1": 50}


@pytest.mark.parametrize("offsets", ["", "[]", "[" * 100_000, '{"orders": {"0": NaN}}', '{"orders": {"0": 1e999}}'])
def test_what_is_no_list_of_offsets_resets_nothing(offsets, cluster, operator, client_of):
    answer = client_of(operator).post(RESET, {"offsets": offsets, "digest": "any"})
    assert answer.status_code in (409, 422)
    assert committed(cluster) == {0: 60, 1: 10}


def test_the_former_offsets_are_put_back_by_a_plan_of_its_own(cluster, operator, client_of):
    client = client_of(operator)
    _, form = planned(client, f"{RESET}?to=offset&value=5")
    text = client.post(RESET, form, follow=True).content.decode()
    assert committed(cluster) == {0: 5, 1: 5}
    _, undo = planned(client, undo_of(text))
    client.post(RESET, undo)

    assert committed(cluster) == {0: 60, 1: 10}


def test_a_first_commit_is_undone_by_taking_it_away(cluster, operator, client_of):
    cluster.groups.delete_offsets("readers", [("orders", 1)])
    cluster.groups.join("readers", "app-1", ("orders", 1))
    client = client_of(operator)
    assert "1 member (state Stable)" in client.get(f"{RESET}?to=offset&value=5").content.decode()
    cluster.groups.leave("readers", "app-1")
    client.post(RESET, {"offsets": '{"orders": {"1": 5}}', "digest": digest_for(client, '{"orders": {"1": 5}}')})
    assert committed(cluster) == {0: 60, 1: 5}
    _, undo = planned(client, f"{RESET}?undo={KeptInverse.objects.get().pk}")
    client.post(RESET, undo)

    assert committed(cluster) == {0: 60}


def digest_for(client, offsets: str) -> str:
    """The digest of the plan that a refused post shows."""
    text = client.post(RESET, {"offsets": offsets, "digest": "none"}).content.decode()
    return re.search(r'name="digest" value="(\w+)"', text)[1]


def test_a_group_with_members_is_not_reset(cluster, operator, client_of):
    client = client_of(operator)
    _, form = planned(client, f"{RESET}?to=earliest")
    cluster.groups.join("readers", "app-1", ("orders", 0))
    response = client.post(RESET, form)

    assert response.status_code == 409
    assert "Stop its consumers" in response.content.decode()
    assert 'class="apply"' not in response.content.decode()
    assert committed(cluster) == {0: 60, 1: 10}
    assert AuditEvent.objects.get().result == "refused"
    assert not KeptInverse.objects.exists()


def test_an_offset_committed_since_refuses_the_plan_and_shows_the_new_one(cluster, operator, client_of):
    client = client_of(operator)
    _, form = planned(client, f"{RESET}?to=earliest")
    cluster.commit("readers", "orders", 0, 61)
    response = client.post(RESET, form)

    assert response.status_code == 409
    assert b"has changed since it was shown" in response.content
    assert re.search(r"orders-0</td><td[^>]*>61</td><td[^>]*><strong>0<", response.content.decode())
    assert committed(cluster) == {0: 61, 1: 10}


def test_a_moment_puts_offsets_to_the_first_record_as_new(cluster, operator, client_of, clock):
    clock.advance(60_000)
    cluster.append("orders", 0, 5)
    at = datetime.fromtimestamp(clock.now_ms() / 1_000 - 1, UTC).isoformat().replace("+", "%2B")
    client = client_of(operator)
    _, form = planned(client, f"{RESET}?to=time&topic=orders&partitions=0&at={at}")
    client.post(RESET, form)

    assert committed(cluster) == {0: 100, 1: 10}


def test_ten_minutes_ago_is_one_link_and_its_field_shows_the_moment(cluster, operator, client_of, clock, monkeypatch):
    monkeypatch.setattr("console.state.consumers.forms.now_ms", lambda: clock.now_ms() + 600_000)
    clock.advance(60_000)
    cluster.append("orders", 0, 5)
    client = client_of(operator)
    (link,) = re.findall(r'href="([^"]*)">10 min ago<', client.get(f"{RESET}?topic=orders").content.decode())
    assert html.unescape(link) == "?to=time&at=now-10m&topic=orders"
    text, form = planned(client, RESET + html.unescape(link))
    at = datetime.fromtimestamp(clock.now_ms() / 1_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert f'name="at" value="{at}"' in text
    client.post(RESET, form)

    assert committed(cluster) == {0: 100, 1: 50}


def test_offsets_follow_another_group_where_it_has_committed(cluster, collect, operator, client_of):
    cluster.create_topic("clicks", 1, 1)
    cluster.append("clicks", 0, 30)
    cluster.commit("others", "orders", 0, 75)
    cluster.commit("others", "clicks", 0, 12)
    collect()
    client = client_of(operator)
    text, form = planned(client, f"{RESET}?to=group&like=others")
    assert "others has committed nothing in it" in text
    client.post(RESET, form)

    committed = cluster.groups.describe_one("readers").committed
    assert dict(committed) == {("orders", 0): 75, ("orders", 1): 10, ("clicks", 0): 12}


def test_a_group_that_is_not_there_or_hidden_is_not_followed(cluster, collect, operator, limited, client_of):
    cluster.commit("secret-group", "orders", 0, 75)
    cluster.create_topic("secret-plans", 1, 1)
    cluster.commit("teller", "secret-plans", 0, 0)
    collect()
    response = client_of(operator).get(f"{RESET}?to=group&like=nobody")
    assert b"Group nobody has committed nothing." in response.content
    for like in ("secret-group", "teller"):
        assert client_of(limited).get(f"{RESET}?to=group&like={like}").status_code == 403


@pytest.mark.parametrize(
    "query",
    [
        "?to=nowhere",
        "?to=group",
        "?to=time",
        "?to=time&at=soon",
        "?to=offset",
        "?to=offset&value=-1",
        "?to=shift&value=x",
        "?to=earliest&partitions=0",
        "?to=earliest&topic=orders&partitions=5-1",
        "?to=earliest&topic=unknown",
    ],
)
def test_what_cannot_be_meant_is_asked_again(query, cluster, operator, client_of):
    response = client_of(operator).get(RESET + query)

    assert response.status_code == 422
    assert 'class="apply"' not in response.content.decode()


@pytest.mark.parametrize("offsets", ["", "[]", "{", '{"orders": {"0": "x"}}', '{"orders": {"0": -4}}'])
def test_a_form_that_was_tampered_with_changes_nothing(offsets, cluster, operator, client_of):
    response = client_of(operator).post(RESET, {"offsets": offsets, "digest": "any"})

    assert response.status_code == 409
    assert committed(cluster) == {0: 60, 1: 10}


def test_deleting_lists_what_is_lost_and_needs_the_name(cluster, collect, operator, client_of):
    client = client_of(operator)
    text, form = planned(client, DELETE)
    assert "2 committed offsets" in text
    assert re.search(r"orders-0</td><td[^>]*>60<", text)

    assert client.post(DELETE, {**form, "typed_name": "reader"}).status_code == 422
    assert cluster.groups.describe_one("readers").state == "Empty"
    response = client.post(DELETE, {**form, "typed_name": "readers"}, follow=True)
    assert b"Consumer group readers was deleted." in response.content
    assert cluster.groups.describe_one("readers").state == "Dead"


def test_a_deleted_groups_offsets_can_be_put_back(cluster, operator, client_of):
    client = client_of(operator)
    _, form = planned(client, DELETE)
    text = client.post(DELETE, {**form, "typed_name": "readers"}, follow=True).content.decode()
    _, undo = planned(client, undo_of(text))
    client.post(RESET, undo)

    assert committed(cluster) == {0: 60, 1: 10}


def test_a_group_with_members_is_not_deleted(cluster, operator, client_of):
    cluster.groups.join("readers", "app-1", ("orders", 0))
    text = client_of(operator).get(DELETE).content.decode()

    assert "Stop its consumers" in text
    assert 'class="apply"' not in text


def test_offsets_of_one_topic_are_deleted_with_its_name_typed(cluster, collect, operator, client_of):
    cluster.create_topic("payments", 1, 1)
    cluster.commit("readers", "payments", 0, 0)
    collect()
    client = client_of(operator)
    _, form = planned(client, FORGET)
    assert client.post(FORGET, {**form, "typed_name": "readers"}).status_code == 422
    client.post(FORGET, {**form, "typed_name": "orders"})

    assert cluster.groups.describe_one("readers").committed == {("payments", 0): 0}


def test_a_topic_that_a_member_reads_keeps_its_offsets(cluster, operator, client_of):
    cluster.groups.join("readers", "app-1", ("orders", 0))

    assert "A member reads orders now" in client_of(operator).get(FORGET).content.decode()


def test_a_topic_the_group_never_read_is_not_found(operator, client_of):
    assert client_of(operator).get("/consumers/readers/+forget/?topic=payments").status_code == 404


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_are_refused_and_nothing_changes(person, address, request, cluster, client_of):
    client = client_of(request.getfixturevalue(person))

    assert client.get(address).status_code == 403
    assert client.post(address, {"digest": "any", "offsets": '{"orders": {"0": 1}}'}).status_code == 403
    assert committed(cluster) == {0: 60, 1: 10}
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("address", [f"{RESET}?to=earliest", DELETE, FORGET])
def test_an_unreachable_cluster_is_told_on_the_page(address, cluster, operator, client_of):
    cluster.cut_off()
    response = client_of(operator).get(address)

    assert "No broker answered in time." in response.content.decode()


def test_a_failure_in_the_middle_keeps_what_takes_it_back(cluster, operator, client_of, monkeypatch):
    client = client_of(operator)
    _, form = planned(client, f"{RESET}?to=earliest")

    def fail(*_):
        raise ClusterUnreachableError("No broker answered in time.")

    monkeypatch.setattr(cluster.groups, "commit_offsets", fail)
    assert client.post(RESET, form).status_code == 422
    assert AuditEvent.objects.get().result == "failed"
    assert KeptInverse.objects.get().values == {"orders": {"0": 60, "1": 10}}


def test_a_partition_without_a_commit_is_given_an_offset(cluster, operator, client_of):
    cluster.groups.delete_offsets("readers", [("orders", 1)])
    client = client_of(operator)
    _, form = planned(client, f"{RESET}?to=latest&topic=orders")
    client.post(RESET, form)

    assert committed(cluster) == {0: 100, 1: 50}


def test_a_group_is_given_offsets_before_its_first_start(cluster, operator, client_of):
    client = client_of(operator)
    page = client.get("/consumers/+prepare/", {"name": "not yet/there"}, follow=True)
    assert "There is no group not yet/there yet." in page.content.decode()
    address = page.redirect_chain[-1][0]
    text, form = planned(client, f"{address}?to=offset&value=7&topic=orders&partitions=1")
    assert "There is no such group yet" in text
    client.post(address, form)

    assert cluster.groups.describe_one("not yet/there").committed == {("orders", 1): 7}


def test_ledgers_of_stream_jobs_and_of_the_audit_are_nobodys_to_reset(operator, client_of):
    for group in ("barnabas-sink-demo", "barnabas-audit-broker"):
        assert client_of(operator).get(f"/consumers/{group}/+reset/").status_code == 404


def test_a_topic_out_of_reach_is_none_for_a_reset(cluster, operator, client_of, collect):
    cluster.create_topic("salaries", 1, 1)
    collect()
    NameRule.objects.create(user=operator, resource="topic", pattern="salaries", level="nothing")
    client = client_of(operator)
    for topic in ("salaries", "no-such-topic"):
        response = client.get(f"{RESET}?to=latest&topic={topic}")
        assert response.status_code == 422
        assert "There is no such topic that you may see." in response.content.decode()


def test_who_operates_nothing_prepares_nothing(viewer, client_of):
    assert client_of(viewer).get("/consumers/+prepare/").status_code == 403
