"""Creating people, changing what they may do, and their passwords: by plan and in the audit."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from console.kit.access.models import NameRule, PasswordToChange
from console.kit.access.reach import AccessLevel, AccessRule, Resource
from console.kit.audit.models import AuditEvent
from console.people.users.preview import VisibleObjects, preview
from console.people.users.queries import logins_of, role_of, user_rights_of
from console.state.clusters.models import Topic
from tests.console.confirming import digest_in

PASSWORD = "correct-horse-battery"
OWN = "a password of my own"


@pytest.fixture
def admin(administrator, client_of) -> Client:
    return client_of(administrator)


def page_of(user: User) -> str:
    return reverse("user", args=[user.pk])


def standing(role: str, *rules: tuple[str, str, str], is_active: bool = True) -> dict:
    fields = {"role": role, "level": [], "resource": [], "pattern": []}
    for level, resource, pattern in rules:
        for name, value in (("level", level), ("resource", resource), ("pattern", pattern)):
            fields[name].append(value)
    return fields | ({"is_active": "on"} if is_active else {})


def apply(client: Client, address: str, fields: dict | None = None):
    """Preview, then confirm what was shown."""
    shown = client.post(address, fields) if fields is not None else client.get(address)
    assert shown.status_code == 200, shown.content.decode()
    return client.post(address, {**(fields or {}), "digest": digest_in(shown)})


def test_the_list_says_who_may_do_what(admin, viewer, outsider):
    NameRule.objects.create(user=viewer, resource="topic", pattern="secret-*", level="nothing")
    text = admin.get(reverse("users")).content.decode()

    assert "nothing on topic secret-*" in text
    assert ">outsider<" in text
    assert "never" in text
    assert ">outsider<" not in admin.get(reverse("users") + "?search=viewer").content.decode()


def test_the_list_is_a_file_too(admin, viewer):
    lines = b"".join(admin.get(reverse("users") + "?format=csv").streaming_content).decode().splitlines()
    assert lines[0] == '"user","role","active","last_login","rules","provider","identity","name","groups"'
    assert '"viewer","viewer","yes","","","","","",""' in lines


def test_a_person_is_created_with_a_password_that_is_shown_once(admin):
    response = apply(admin, reverse("user-create"), {"username": "ada", "role": "operator"})
    made = response.context["password"]

    assert made in response.content.decode()
    assert "no-store" in response.headers["Cache-Control"]
    assert User.objects.get(username="ada").check_password(made)
    assert role_of(User.objects.get(username="ada")) == "operator"
    (event,) = AuditEvent.objects.filter(action="create user")
    assert made not in str((event.before, event.after, event.detail))


def test_the_first_password_opens_only_the_page_where_it_is_changed(admin):
    made = apply(admin, reverse("user-create"), {"username": "ada", "role": "viewer"}).context["password"]
    client = Client()
    client.post("/login/", {"username": "ada", "password": made})

    assert client.get("/topics/").url == reverse("own-password")
    own = {"old_password": made, "new_password1": OWN, "new_password2": OWN}
    assert client.post(reverse("own-password"), own).url == "/"
    assert client.get("/topics/").status_code == 200
    assert not PasswordToChange.objects.exists()


@pytest.mark.parametrize(
    "username", ["viewer", "VIEWER", "a b", "", "x" * 151, "System", "anonymous", "аdmin", "ｖiewer2"]
)
def test_a_name_that_cannot_be_is_refused(username, admin, viewer):
    response = admin.post(reverse("user-create"), {"username": username, "role": "viewer"})

    assert response.status_code == 422
    assert "plan" not in response.context


def test_a_preview_changes_nothing_and_says_what_it_comes_to(admin, viewer):
    Topic.objects.bulk_create(Topic(name=name) for name in ("orders-eu", "orders-us", "secret-plans", "other"))
    wanted = standing("viewer", ("operator", "topic", "orders-*"), ("nothing", "topic", "secret-*"))
    response = admin.post(page_of(viewer), wanted)
    row = response.context["preview"][0]

    assert (row.total, row.now.seen, row.then.seen, row.now.operable, row.then.operable) == (4, 4, 3, 0, 2)
    assert row.hidden == ("secret-plans",)
    assert not NameRule.objects.exists()


def test_role_and_rules_are_changed_as_planned_and_audited(admin, viewer):
    wanted = standing("operator", ("nothing", "topic", "secret-*"), ("viewer", "group", "g**"), ("viewer", "topic", ""))
    assert apply(admin, page_of(viewer), wanted).status_code == 302

    now = user_rights_of(User.objects.get(pk=viewer.pk))
    assert now.role == "operator"
    assert set(now.rules) == {
        AccessRule(Resource.TOPIC, "secret-*", AccessLevel.NOTHING),
        AccessRule(Resource.GROUP, "g*", AccessLevel.VIEWER),
    }
    (event,) = AuditEvent.objects.filter(action="change user")
    assert event.before == {"role": "viewer", "group g*": None, "topic secret-*": None}
    assert event.after == {"role": "operator", "group g*": "viewer", "topic secret-*": "nothing"}


def test_a_change_that_was_not_shown_is_refused(admin, viewer, operator):
    shown = digest_in(admin.post(page_of(viewer), standing("admin")))
    NameRule.objects.create(user=viewer, resource="topic", pattern="x", level="nothing")
    response = admin.post(page_of(viewer), {**standing("admin"), "digest": shown})

    assert response.status_code == 409
    assert role_of(viewer) == "viewer"


@pytest.mark.parametrize(
    "rule",
    [
        ("everything", "topic", "x"),
        ("viewer", "planet", "x"),
        ("viewer", "topic", "x" * 250),
        ("viewer", "topic", "a*b*c*d*"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(rule, admin, viewer):
    assert admin.post(page_of(viewer), standing("viewer", rule)).status_code == 422


def test_two_rules_on_the_same_names_are_refused(admin, viewer):
    wanted = standing("viewer", ("viewer", "topic", "x"), ("nothing", "topic", "x"))
    assert b"keep one" in admin.post(page_of(viewer), wanted).content


@pytest.mark.parametrize("fields", [standing("viewer"), standing("admin", is_active=False)])
def test_the_last_administrator_stays(fields, admin, administrator):
    response = apply(admin, page_of(administrator), fields)

    assert response.status_code == 409
    assert b"last administrator" in response.content
    assert role_of(User.objects.get(pk=administrator.pk)) == "admin"
    assert AuditEvent.objects.get(action="change user").result == "refused"


def test_an_administrator_beside_another_may_go(admin, administrator):
    User.objects.create_superuser("root", password=PASSWORD)

    assert apply(admin, page_of(administrator), standing("viewer")).status_code == 302
    assert admin.get(reverse("users")).status_code == 403


def test_a_superuser_who_becomes_a_viewer_is_none_any_more(admin):
    root = User.objects.create_superuser("root", password=PASSWORD)
    apply(admin, page_of(root), standing("viewer"))

    assert role_of(User.objects.get(pk=root.pk)) == "viewer"


def test_a_deactivated_person_is_out_at_once(admin, viewer, client_of):
    client = client_of(viewer)
    apply(admin, page_of(viewer), standing("viewer", is_active=False))

    assert client.get("/").status_code == 302
    assert logins_of(viewer) == []
    assert Client().post("/login/", {"username": "viewer", "password": PASSWORD}).status_code == 401


def test_logins_of_one_person_are_ended(admin, viewer, operator, client_of):
    clients = {user: client_of(user) for user in (viewer, operator)}
    apply(admin, reverse("user-logins", args=[viewer.pk]))

    assert clients[viewer].get("/").status_code == 302
    assert clients[operator].get("/").status_code == 200
    assert AuditEvent.objects.get(action="end logins").before == {"logins": 1}


def test_a_reset_password_is_shown_once_and_ends_the_logins(admin, viewer, client_of):
    client, address = client_of(viewer), reverse("user-password", args=[viewer.pk])
    digest = digest_in(admin.get(address))
    made = admin.post(address, {"digest": digest}).context["password"]

    assert client.get("/").status_code == 302
    assert User.objects.get(pk=viewer.pk).check_password(made)
    assert admin.post(address, {"digest": digest}).status_code == 409


def test_everybody_changes_the_own_password_and_stays_logged_in(viewer, client_of):
    here, elsewhere = client_of(viewer), client_of(viewer)
    own = {"old_password": PASSWORD, "new_password1": OWN, "new_password2": OWN}
    assert here.post(reverse("own-password"), own).status_code == 302

    assert here.get("/").status_code == 200
    assert elsewhere.get("/").status_code == 302
    assert AuditEvent.objects.get().action == "change own password"


@pytest.mark.parametrize("new", ["short", "password1234", "viewer1234"])
def test_a_password_that_is_easily_guessed_is_refused(new, viewer, client_of):
    own = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}

    assert client_of(viewer).post(reverse("own-password"), own).status_code == 422


def test_guessing_the_old_password_is_as_slow_as_at_the_login(viewer, client_of):
    client, own = client_of(viewer), {"old_password": "guess", "new_password1": OWN, "new_password2": OWN}
    answers = [client.post(reverse("own-password"), own).status_code for _ in range(6)]

    assert answers == [422] * 5 + [429]


@pytest.mark.parametrize("route", ["users", "user-create", "user", "user-password", "user-logins"])
@pytest.mark.parametrize("person", ["outsider", "viewer", "operator"])
def test_people_are_changed_by_administrators_only(route, person, request, client_of, viewer):
    client = client_of(request.getfixturevalue(person))
    address = reverse(route, args=[] if route in ("users", "user-create") else [viewer.pk])

    assert client.get(address).status_code == 403
    assert client.post(address, standing("admin")).status_code in (403, 405)
    assert role_of(viewer) == "viewer"


def test_an_administrator_may_operate_every_group(administrator, cluster, collect, viewer, client_of):
    cluster.create_topic("orders", 2, 2)
    for name in ("billing", "shipping"):
        cluster.commit(name, "orders", 0, 0)
    collect()
    now, then = user_rights_of(administrator), user_rights_of(viewer)
    row = next(rule for rule in preview(now, then) if rule.resource is Resource.GROUP)
    assert (row.total, row.now, row.then) == (2, VisibleObjects(2, 2), VisibleObjects(2, 0))
