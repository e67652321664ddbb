"""Deleting records up to an offset: what is aimed at, what the plan says, and that only what was shown is deleted."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from console.cluster.retention.plan import UnreadLoss
from console.cluster.retention.purge import Doomed, PurgeBound, aimed_at, cuts_of, purge_plan
from console.kit.audit.models import AuditEvent
from console.kit.gateway.records.interface import OffsetSpan
from console.state.clusters.models import Topic
from tests.console.confirming import digest_in

SPANS = {0: OffsetSpan(10, 100), 1: OffsetSpan(0, 50), 2: OffsetSpan(7, 7)}
DOOMED = Doomed("orders", "id", "delete", False, SPANS)
PAGE = "/topics/orders/+purge/"


@pytest.fixture
def _orders(cluster, collect, clock):
    cluster.create_topic("orders", 2, 1)
    cluster.append("orders", 0, 100)
    clock.advance(3_600_000)
    cluster.append("orders", 0, 50)
    cluster.append("orders", 1, 30)
    cluster.commit("readers", "orders", 0, 20)
    collect()


def spans(cluster) -> dict[int, tuple[int, int]]:
    return {item: (span.first, span.next) for item, span in cluster.record_spans("orders", False).items()}


def confirmed(client, query: str, **form):
    shown = client.get(f"{PAGE}?{query}")
    sent = {"digest": digest_in(shown), "typed_name": "orders"}
    sent["before"] = [value for _, value in shown.context["fields"]]
    return client.post(PAGE, sent | form, follow=True)


@pytest.mark.parametrize(
    ("upto", "more", "before"),
    [
        (PurgeBound.END, {}, {0: 100, 1: 50, 2: 7}),
        (PurgeBound.OFFSET, {"offset": 40}, {0: 40, 1: 40, 2: 7}),
        (PurgeBound.OFFSET, {"offset": 3}, {0: 10, 1: 3, 2: 7}),
        (PurgeBound.TIME, {"at": {0: 60, 1: None}}, {0: 60, 1: 50}),
    ],
)
def test_each_kind_aims_within_the_log_and_passes_by_who_did_not_answer(upto, more, before):
    assert aimed_at(upto, SPANS, **more) == before


def test_only_what_takes_records_away_is_in_the_plan():
    cuts = cuts_of(DOOMED, {0: 10, 1: 20, 2: 7})
    assert [(cut.partition, cut.records) for cut in cuts] == [(1, 20)]


def test_an_offset_beyond_the_end_is_refused():
    with pytest.raises(ValueError, match="Partition 0 ends at offset 100, before 101"):
        cuts_of(DOOMED, {0: 101})


def test_new_beginnings_are_confirmed_and_what_moves_by_itself_is_told():
    plan = purge_plan(DOOMED, cuts_of(DOOMED, {0: 60}), [UnreadLoss("readers", 1, 40)], "h:9092")
    moved = Doomed("orders", "id", "delete", False, {0: OffsetSpan(30, 900)})
    assert purge_plan(moved, cuts_of(moved, {0: 60}), [], "h:9092").confirmed == plan.confirmed
    assert purge_plan(DOOMED, cuts_of(DOOMED, {0: 61}), [], "h:9092").confirmed != plan.confirmed
    assert "Group readers has not read 40 of them, and never will." in plan.losses
    assert (plan.typed_name, plan.undo) == ("orders", "")
    assert '{"topic": "orders", "partition": 0, "offset": 60}' in plan.command


@pytest.mark.parametrize(
    ("policy", "is_internal", "why"), [("compact", False, "tombstone"), ("delete", True, "Kafka's own")]
)
def test_where_kafka_refuses_it_the_plan_says_so(policy, is_internal, why):
    doomed = Doomed("orders", "id", policy, is_internal, SPANS)
    assert why in purge_plan(doomed, cuts_of(doomed, {0: 60}), [], "h:9092").obstacle


@pytest.mark.usefixtures("_orders")
class TestPage:
    def test_a_topic_is_emptied_as_planned_and_the_audit_knows(self, cluster, operator, client_of):
        client = client_of(operator)
        text = client.get(f"{PAGE}?to=end").content.decode()
        assert "Up to 180 records in 2 partitions are deleted for good" in text
        assert "Group readers has not read 130 of them" in text
        assert b"Records of orders were deleted." in confirmed(client, "to=end").content
        assert spans(cluster) == {0: (150, 150), 1: (30, 30)}
        event = AuditEvent.objects.get()
        assert (event.action, event.result, event.before) == (
            "delete records",
            "done",
            {"partition 0": 0, "partition 1": 0},
        )

    def test_what_is_older_than_a_moment_goes(self, cluster, clock, operator, client_of):
        moment = datetime.fromtimestamp((clock.now_ms() - 1_000) / 1_000, UTC)
        confirmed(client_of(operator), f"to=time&at={moment:%Y-%m-%dT%H:%M:%SZ}")
        assert spans(cluster) == {0: (100, 150), 1: (0, 30)}

    def test_what_is_written_meanwhile_stays(self, cluster, operator, client_of):
        client = client_of(operator)
        shown = client.get(f"{PAGE}?to=end&partitions=0")
        cluster.append("orders", 0, 5)
        before = [value for _, value in shown.context["fields"]]
        client.post(PAGE, {"digest": digest_in(shown), "typed_name": "orders", "before": before})
        assert spans(cluster) == {0: (150, 155), 1: (0, 30)}

    def test_other_offsets_than_those_shown_are_refused(self, cluster, operator, client_of):
        response = confirmed(client_of(operator), "to=offset&partitions=0&offset=10", before="0:90")
        assert (response.status_code, spans(cluster)[0]) == (409, (0, 150))

    def test_the_name_has_to_be_typed(self, cluster, operator, client_of):
        response = confirmed(client_of(operator), "to=end", typed_name="order")
        assert (response.status_code, spans(cluster)[0]) == (422, (0, 150))

    @pytest.mark.parametrize("before", ["0", "0:x", "-1:5", "0:99999999999999999999", "0:151", ""])
    def test_nonsense_deletes_nothing(self, before, cluster, operator, client_of):
        response = client_of(operator).post(PAGE, {"digest": "x", "typed_name": "orders", "before": before})
        assert response.status_code in (409, 422)
        assert spans(cluster) == {0: (0, 150), 1: (0, 30)}

    @pytest.mark.parametrize(
        ("query", "why"),
        [
            ("to=time", b"Which moment?"),
            ("to=offset&offset=5", b"choose one"),
            ("to=offset&partitions=0", b"Which offset?"),
            ("to=end&partitions=5-3", b"Numbers and ranges"),
            ("to=end&partitions=2", b"It has 2 partitions"),
            ("to=time&at=yesterday", b"A moment as"),
        ],
    )
    def test_what_cannot_be_meant_is_said_beside_the_field(self, query, why, operator, client_of):
        response = client_of(operator).get(f"{PAGE}?{query}")
        assert (response.status_code, why in response.content) == (422, True)

    def test_a_partition_that_does_not_answer_is_left_alone_and_named(self, cluster, operator, client_of):
        cluster.stop_broker(2)
        response = client_of(operator).get(f"{PAGE}?to=end")
        assert b"Partition 1 did not answer: nothing is deleted there." in response.content
        assert [cut.partition for cut in response.context["cuts"]] == [0]

    def test_nothing_to_delete_is_said(self, operator, client_of):
        assert b"no record would go" in client_of(operator).get(f"{PAGE}?to=offset&partitions=0&offset=0").content

    def test_a_compacted_topic_is_refused_with_what_helps(self, cluster, collect, operator, client_of):
        cluster.change_topic_settings("orders", {"cleanup.policy": "compact"})
        Topic.objects.filter(name="orders").update(cleanup_policy="compact")
        response = confirmed(client_of(operator), "to=end")
        assert (response.status_code, spans(cluster)[0]) == (409, (0, 150))
        assert b"tombstone" in response.content

    def test_a_group_out_of_reach_is_not_named(self, cluster, limited_reader, give_rule, client_of):
        give_rule(limited_reader, "operator", "topic", "orders")
        cluster.commit("spies", "orders", 0, 1)
        text = client_of(limited_reader).get(f"{PAGE}?to=end").content
        assert (b"readers" in text, b"spies" in text) == (True, False)

    @pytest.mark.parametrize("person", ["viewer", "outsider"])
    def test_others_are_refused(self, person, request, cluster, client_of):
        client = client_of(request.getfixturevalue(person))
        assert client.get(reverse("topic-purge", args=["orders"])).status_code == 403
        assert client.post(PAGE, {"before": "0:9", "digest": "x", "typed_name": "orders"}).status_code == 403
        assert spans(cluster)[0] == (0, 150)

    def test_groups_beyond_reach_that_lose_records_are_counted_and_not_named(
        self, cluster, collect, limited, client_of
    ):
        cluster.commit("secret-readers", "orders", 0, 20)
        collect()
        text = client_of(limited).get(f"{PAGE}?to=end").content.decode()
        assert "Group readers has not read 130 of them" in text
        assert "1 group loses unread records beyond the reach of your rights." in text
        assert "secret" not in text
