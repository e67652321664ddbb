"""An earlier console that comes back reads what a later one has stored."""

from console.automation.drill.groups import GroupStory, read_stories
from console.automation.drill.models import Drill
from console.cluster.brokers.budgets import CrowdedBudget
from console.cluster.brokers.models import BrokerReport, Directory
from console.cluster.past.states import BrokerThen, _pack
from console.cluster.quotas.models import ObservedQuotaUse, QuotaRow
from console.signals.alerts.messages import AlertMessage, MessageObject

LATER = {"a_field_of_a_later_version": 1}


def test_fields_that_a_later_version_has_stored_are_left_out():
    directory = {"path": "/data", "stray_count": 2}
    budget = CrowdedBudget("members", 10, 9, "User:a", "host", 8, 0)
    fields = {name: getattr(budget, name) for name in CrowdedBudget.__slots__}
    report = BrokerReport(log_dirs=[directory | LATER], crowded_budgets=[fields | LATER])
    assert report.directories == [Directory("/data", stray_count=2)]
    assert report.budgets == [budget]


def test_the_same_holds_for_quotas_drills_messages_and_the_timeline():
    use = ObservedQuotaUse(1, "key", "who", "user", "client", "ip", 10.0, 5.0, None)
    assert QuotaRow(uses=[use.as_json() | LATER]).seen == [use]
    story = GroupStory(lag=1, behind_ms=2, members=3, coordinator=4)
    assert read_stories({"g": story.as_json() | LATER}) == {"g": story}
    row = {"what": "lag", "expected": "0", "measured": "1", "verdict": "worse"}
    assert [item.as_json() for item in Drill(rows=[row | LATER]).table] == [row]
    then = {"host": "h", "port": 1, "rack": "", "is_registered": True}
    assert BrokerThen.unpack(_pack(then | LATER)) == BrokerThen(**then)
    message = AlertMessage("1", "k", "rule", "fires", "warning", "c", 5, (MessageObject("orders", "It is behind.", 3),))
    stored = message.as_json()
    later = stored | LATER | {"objects": [dict(item) | LATER for item in stored["objects"]]}
    assert AlertMessage.of(later) == message
