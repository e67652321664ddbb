from console.audit.record import record_event


def test_audit_page_shows_newest_first_with_values_and_searches(administrator, operator, client_of):
    record_event(operator, "create topic", "topic", "orders", after={"partition_count": 3})
    record_event(operator, "delete topic", "topic", "payments", result="refused", detail="It is in use.")

    text = client_of(administrator).get("/audit/").content.decode()
    assert text.index("payments") < text.index("orders")
    assert "partition_count 3" in text
    assert "It is in use." in text

    found = client_of(administrator).get("/audit/?search=pay").content.decode()
    assert "payments" in found
    assert "orders" not in found
