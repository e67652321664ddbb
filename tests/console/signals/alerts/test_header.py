"""The pages of an alert rule have the header of one object."""

import pytest

from console.kit.common.clock import now_ms
from console.signals.alerts.models import Alert, KeptRule, RuleSilence


@pytest.fixture
def rule(db):
    rule = {"health": "critical", "channels": [], "severity": "critical"}
    return KeptRule.objects.create(name="health", definition=rule, changed_ms=1)


@pytest.mark.parametrize("page", ["+change", "+remove"])
@pytest.mark.parametrize(("state", "word"), [("firing", "firing"), ("pending", "pending"), ("resolved", "OK")])
def test_the_state_of_a_rule_stands_above_both_pages(rule, administrator, client_of, page, state, word):
    Alert.objects.create(rule="health", object_name="x", state=state, severity="critical", since_ms=1, seen_ms=1)
    RuleSilence.objects.create(rule="health", until_ms=now_ms() + 3_600_000, actor_name="root")
    text = client_of(administrator).get(f"/alerts/rules/health/{page}/").content.decode()
    header = text[text.index("object-head") : text.index("</header>", text.index("object-head"))]
    assert ">health</h1>" in header
    assert f">{word}<" in header
    assert "Silenced until" in header
    assert 'href="/alerts/rules/health/+change/"' in header
    assert 'href="/alerts/rules/health/+remove/"' in header
    assert text.count("<h1") == 1


def test_a_new_rule_has_none(db, administrator, client_of):
    text = client_of(administrator).get("/alerts/+rule/").content.decode()
    assert "object-head" not in text
    assert "<h1>Add a rule</h1>" in text
