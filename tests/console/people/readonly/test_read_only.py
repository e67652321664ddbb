"""Read-only mode: every change is refused with the reason, plans can still be looked at, and buttons say why."""

import re

import pytest
from django.urls import reverse

from console.kit.access.models import ReadOnlyMode
from console.kit.access.read_only import CLUSTER, CONSOLE, read_only_now, why_read_only
from console.kit.audit.models import AuditEvent
from console.kit.live import push
from console.kit.plans import digest as digests
from console.people.readonly.guard import ALWAYS_OPEN
from console.processes.announce import push_process
from console.processes.models import ManagedProcess
from console.state.clusters.models import Topic
from tests.console.kit.access.test_every_address import CHANGES, CLOSED, _objects, address_of  # noqa: F401
from tests.examples import some

OF_PEOPLE = {"user-create", "user", "user-password", "user-logins"}


@pytest.fixture
def admin(administrator, client_of):
    return client_of(administrator)


def begin(scope: str = CONSOLE) -> None:
    ReadOnlyMode.objects.create(scope=scope, by_name="ada", reason="the disk is being replaced")


def digest_of(client, scope: str) -> str:
    shown = client.get(reverse("read-only"))
    switches = shown.context["switches"]
    return next(digests.digest_of(plan, shown.context["user"]) for item, _, _, plan in switches if item == scope)


def switch(client, scope: str, **fields):
    return client.post(reverse("read-only-switch"), {"scope": scope, "digest": digest_of(client, scope), **fields})


@pytest.mark.parametrize(("scope", "may_change"), [(CONSOLE, set()), (CLUSTER, OF_PEOPLE)])
def test_every_change_is_refused_with_who_and_why(scope, may_change, admin):
    begin(scope)
    answers = {name: admin.post(address_of(name)) for name in CHANGES.keys() - ALWAYS_OPEN}

    assert {name for name, item in answers.items() if item.status_code != 423} == may_change
    for name in answers.keys() - may_change:
        text = answers[name].content.decode()
        assert "by ada: the disk is being replaced" in text
        assert "Nothing was changed" in text
    assert Topic.objects.filter(name="orders").exists()
    assert not ManagedProcess.objects.exclude(request="").exists()


def test_what_is_always_open_is_known_by_its_name(admin):
    assert CHANGES.keys() | {"login", "api", "api-mcp"} >= ALWAYS_OPEN
    begin()
    assert admin.post(reverse("own-password"), {}).status_code == 422
    assert admin.post(reverse("logout")).status_code == 302


def test_plans_can_be_looked_at(admin):
    begin()
    assert admin.get(reverse("group-reset", args=["readers"]) + "?to=earliest").status_code == 200


def test_it_is_begun_and_ended_by_plan_and_kept_in_the_audit(admin):
    assert switch(admin, CLUSTER, reason="moving house").status_code == 302
    (mode,) = read_only_now().values()
    assert str(mode).startswith("The cluster is read-only since 20")
    assert str(mode).endswith("UTC by administrator: moving house")
    assert switch(admin, CLUSTER).status_code == 302
    assert why_read_only() == ""
    assert [event.action for event in AuditEvent.objects.order_by("id")] == ["begin read-only", "end read-only"]


def test_a_switch_that_was_not_shown_is_refused(admin):
    stale = digest_of(admin, CONSOLE)
    begin()
    assert admin.post(reverse("read-only-switch"), {"scope": CONSOLE, "digest": stale}).status_code == 409
    assert why_read_only()


def test_an_unknown_scope_is_nothing_to_switch(admin):
    assert admin.post(reverse("read-only-switch"), {"scope": "moon"}).status_code == 404


def test_what_the_settings_say_cannot_be_ended_on_the_page(admin, settings):
    settings.READ_ONLY = True
    assert b"is read-only by its settings" in admin.get("/").content
    response = switch(admin, CONSOLE)

    assert response.status_code == 409
    assert b"BARNABAS_READ_ONLY" in response.content


def buttons(text: str) -> list[str]:
    return re.findall(r'<(?:button|span|a)\b[^>]*class="button[^>]*>', text)


@pytest.mark.parametrize("person", ["viewer", "administrator"])
def test_every_button_that_cannot_be_pressed_says_why(person, request, client_of):
    if person == "administrator":
        begin()
    client, count, silent = client_of(request.getfixturevalue(person)), 0, []
    for name in some(CLOSED, one_in=3):
        for tag in buttons(b"".join(client.get(address_of(name))).decode()):
            if re.search(r' disabled\b|aria-disabled="true"', tag):
                count += 1
                silent += [] if re.search(r'title="[^"]{10,}"', tag) else [(name, tag)]
    assert silent == []
    assert count > 5


def test_pages_show_since_when_and_by_whom(viewer, client_of):
    begin()
    for page in ("overview", "topics", "processes"):
        assert "by ada: the disk is being replaced" in client_of(viewer).get(reverse(page)).content.decode()


@pytest.mark.usefixtures("listeners")
def test_pushed_rows_have_no_live_buttons(admin, monkeypatch):
    sent = []
    monkeypatch.setattr(push, "send_now", sent.extend)
    monkeypatch.setattr(push, "on_cluster_commit", lambda do: do())
    begin()
    push_process(ManagedProcess.objects.get(name="broker-1"))

    assert sent
    assert not any("hx-post" in html for _, html in sent)


@pytest.mark.usefixtures("listeners")
def test_rows_pushed_to_operators_have_live_buttons(monkeypatch):
    sent = []
    monkeypatch.setattr(push, "send_now", sent.extend)
    monkeypatch.setattr(push, "on_cluster_commit", lambda do: do())
    push_process(ManagedProcess.objects.get(name="broker-1"))

    assert any("hx-post" in html for _, html in sent)
