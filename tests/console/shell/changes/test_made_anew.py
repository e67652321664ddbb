"""A change that waits is for the topic it was proposed for, and not for another that has taken its name since."""

from urllib.parse import urlencode

import pytest

from console.shell.changes.models import ChangeRule, ProposedChange
from tests.console.confirming import digest_in
from tests.console.shell.changes.test_kept_form import RULE


@pytest.fixture
def anew(cluster, collect, operator, administrator, client_of):
    """Propose what `address` shows, make the topic anew, and whether it still is as it was proposed."""
    cluster.create_topic("orders", 1, 1)
    collect()
    ChangeRule.objects.create(name="all", definition=RULE, actor_name="root")

    def ask(address: str, action: str, **fields: str) -> list[bool]:
        browser, other, seen = client_of(operator), client_of(administrator), []
        shown = browser.get(address)
        browser.post(action, {**dict(shown.context.get("fields", ())), **fields, "digest": digest_in(shown)})
        number = ProposedChange.objects.get().pk
        seen.append(other.get(f"/changes/{number}/").context["is_as_proposed"])
        cluster.delete_topic("orders")
        cluster.create_topic("orders", 1, 1)
        collect()
        seen.append(other.get(f"/changes/{number}/").context["is_as_proposed"])
        return seen

    return ask


def test_a_move_is_another_plan_then(anew, cluster):
    (held,) = cluster.moves.assignments(["orders"]).values()
    assert anew(f"/placement/+move/?drain={held[0]}", "/placement/+move/") == [True, False]


def test_a_retention_is_another_plan_then(anew):
    assert anew("/topics/orders/+retention/?retention_ms=86400000", "/topics/orders/+configure/") == [True, False]


def test_a_setting_is_another_plan_then(anew):
    address = "/topics/orders/+settings/?setting=segment.ms&value=3600000"
    assert anew(address, "/topics/orders/+set/", setting="segment.ms", value="3600000") == [True, False]


def test_a_setting_of_several_is_another_plan_then(anew):
    typed = {"topic": "orders", "do": "set", "setting": "segment.ms", "value": "3600000"}
    assert anew(f"/topics/+many/?{urlencode(typed)}", "/topics/+many/", **typed) == [True, False]
