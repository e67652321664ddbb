"""Rules are made by administrators, by plan."""

import pytest
from django.contrib.auth.models import Group, User

from console.kit.audit.models import AuditEvent
from console.shell.changes.models import ChangeRule
from tests.console.confirming import digest_in

ADD = "/changes/+rules/add/"
APPROVAL = {"name": "prod", "kind": "approval", "actions": "delete topic, change access rules", "objects": "prod.*"}
NIGHT = {
    "name": "night", "kind": "window", "actions": "*", "objects": "*", "days": ["fri", "sat"], "begins": "22:00",
    "ends": "04:00", "zone": "Europe/Berlin", "outside": "refuse",
}  # fmt: skip


@pytest.fixture
def other(db):
    user = User.objects.create_user("other", password="x" * 20)
    user.groups.add(Group.objects.get_or_create(name="admin")[0])
    return user


def confirm(browser, address, form):
    shown = browser.post(address, form)
    return shown, browser.post(address, {**form, "digest": digest_in(shown)})


def test_a_rule_is_planned_and_kept(administrator, other, client_of, cluster):
    shown, answer = confirm(client_of(administrator), ADD, APPROVAL)
    assert "1 other account may change" in " ".join(shown.context["plan"].touches)
    assert answer.url == "/changes/"
    kept = ChangeRule.objects.get()
    assert kept.definition == {
        "kind": "approval",
        "actions": ["delete topic", "change access rules"],
        "objects": ["prod.*"],
    }
    assert AuditEvent.objects.get().action == "keep change rule"
    page = client_of(administrator).get("/changes/").content.decode()
    assert "a second person" in page


def test_who_is_alone_is_not_locked_out(administrator, client_of, cluster):
    shown, answer = confirm(client_of(administrator), ADD, APPROVAL)
    assert "No other user could approve anything" in shown.context["plan"].obstacle
    assert answer.status_code == 409
    assert not ChangeRule.objects.exists()


def test_a_window_is_changed_and_removed(administrator, client_of, cluster):
    browser = client_of(administrator)
    confirm(browser, ADD, NIGHT)
    assert ChangeRule.objects.get().definition["days"] == ["fri", "sat"]
    form = browser.get("/changes/+rules/night/").context["form"]
    assert form["begins"].value() == "22:00"
    shown, _ = confirm(browser, "/changes/+rules/night/", {**NIGHT, "ends": "05:00"})
    assert [(line.name, line.old, line.new) for line in shown.context["plan"].lines] == [("ends", "04:00", "05:00")]
    shown = browser.get("/changes/+rules/night/+remove/")
    browser.post("/changes/+rules/night/+remove/", {"digest": digest_in(shown)})
    assert not ChangeRule.objects.exists()


def test_a_rule_that_was_removed_is_made_again_as_it_was(administrator, client_of, cluster):
    browser = client_of(administrator)
    confirm(browser, ADD, NIGHT)
    saved = ChangeRule.objects.get().definition
    shown = browser.get("/changes/+rules/night/+remove/")
    done = browser.post("/changes/+rules/night/+remove/", {"digest": digest_in(shown)}, follow=True).content.decode()
    back = done.split(f'href="{ADD}?kept=')[1].split('"')[0]
    assert f"{ADD}?kept={back}" in browser.get(ADD).content.decode()
    begun = browser.get(f"{ADD}?kept={back}").context["form"]
    form = {item.name: item.value() for item in begun if item.value() is not None}
    confirm(browser, ADD, form)
    row = ChangeRule.objects.get()
    assert (row.name, row.definition) == ("night", saved)
    assert browser.get(ADD).context["removed"] == []


@pytest.mark.parametrize("number", ["", "0", "x", "9" * 30, "-1"])
def test_what_was_not_kept_begins_an_empty_form(administrator, client_of, cluster, number):
    assert not client_of(administrator).get(f"{ADD}?kept={number}").context["form"].initial.get("name")


@pytest.mark.parametrize(
    "wrong", [{"zone": "Mars/Olympus"}, {"days": []}, {"begins": "later"}, {"name": "a b"}, {"actions": ","}]
)
def test_what_is_wrong_is_said(administrator, client_of, cluster, wrong):
    answer = client_of(administrator).post(ADD, {**NIGHT, **wrong})
    assert (answer.status_code, ChangeRule.objects.exists()) == (422, False)
    assert b'role="alert"' in answer.content


@pytest.mark.parametrize("person", ["operator", "viewer", "outsider"])
def test_others_make_no_rules(person, request, client_of, cluster):
    browser = client_of(request.getfixturevalue(person))
    assert browser.get(ADD).status_code == 403
    assert browser.post(ADD, APPROVAL).status_code == 403
    assert browser.get("/changes/").status_code == (200 if person == "operator" else 403)
