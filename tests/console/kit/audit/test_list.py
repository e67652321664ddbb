import csv
import io
from datetime import timedelta

from console.kit.audit.models import AuditEvent
from console.kit.audit.record import record_event


def test_audit_page_shows_newest_first_with_values_and_searches(administrator, operator, client_of):
    record_event(operator, "create topic", "topic", "orders", after={"partition_count": 3})
    record_event(operator, "delete topic", "topic", "payments", result="refused", detail="It is in use.")

    text = client_of(administrator).get("/audit/").content.decode()
    assert text.index("payments") < text.index("orders")
    assert "partition_count 3" in text
    assert "It is in use." in text

    page = client_of(administrator).get("/audit/?search=pay").content.decode()
    assert "payments" in page
    assert "orders" not in page


def test_filters_choose_by_result_kind_and_moment(administrator, client_of):
    first = record_event(None, "start", "process", "broker-1")
    second = record_event(None, "create topic", "topic", "orders", result="refused")
    between = (first.at + (second.at - first.at) / 2).isoformat()

    def shown(**query) -> list[str]:
        return [event.object_name for event in client_of(administrator).get("/audit/", query).context["page"]]

    assert shown(result="refused") == ["orders"]
    assert shown(object="process") == ["broker-1"]
    assert shown(since=between) == ["orders"]
    assert shown(until=between) == ["broker-1"]
    assert shown(to=between) == ["broker-1"]
    assert shown(last="1h") == ["orders", "broker-1"]
    assert shown(since=(second.at + timedelta(seconds=1)).isoformat()) == []
    assert shown(since="yesterday", until="2026-99-99T00:00:00Z", result="x") == ["orders", "broker-1"]


def test_the_file_has_the_filters_of_the_page_and_every_seal(administrator, client_of):
    record_event(None, "start", "process", "=broker-1", after={"desired": "running"})
    record_event(None, "create topic", "topic", "orders")

    response = client_of(administrator).get("/audit/?object=process&format=csv")

    titles, *rows = csv.reader(io.StringIO(b"".join(response.streaming_content).decode()))
    (row,) = (dict(zip(titles, row, strict=True)) for row in rows)
    event = AuditEvent.objects.get(object_type="process")
    assert (row["object"], row["after"], row["seal"]) == ("'=broker-1", "desired=running", event.seal)


def test_a_row_of_many_values_is_folded(administrator, operator, client_of):
    many = {f"orders-{n}": [1, 2, 3] for n in range(94)}
    record_event(operator, "move partitions", "cluster", "cluster", before=many, after=many)
    record_event(operator, "create topic", "topic", "orders", after={"partition_count": 3})

    text = client_of(administrator).get("/audit/").content.decode()
    assert text.count('<details class="opened') == 2
    assert "94 values, such as" in text
    assert "orders-93 [1, 2, 3]" in text
