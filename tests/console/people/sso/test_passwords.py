"""What passwords open beside single sign-on, and what administrators see of who came by it."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.console.confirming import digest_in
from tests.oidc_provider import CLIENT_ID

pytestmark = pytest.mark.usefixtures("single_sign_on")
PASSWORD = "correct-horse-battery"


def log_in(name: str) -> int:
    return Client().post("/login/", {"username": name, "password": PASSWORD}).status_code


@pytest.fixture
def linked(there_and_back) -> tuple[User, Client]:
    client = Client()
    there_and_back(client)
    return User.objects.get(username="sso:alice"), client


def test_who_comes_by_single_sign_on_sets_no_password(linked, administrator, client_of):
    user, client = linked
    admin = client_of(administrator)

    assert client.get("/password/").status_code == 403
    assert client.post("/password/", {"new_password1": PASSWORD, "new_password2": PASSWORD}).status_code == 403
    assert b"Reset password" not in admin.get(f"/users/{user.pk}/").content
    page = admin.get(f"/users/{user.pk}/+password/")
    answer = admin.post(f"/users/{user.pk}/+password/", {"digest": digest_in(page)})
    assert b"has no password here" in answer.content
    user.refresh_from_db()
    assert not user.has_usable_password()


def test_a_password_it_has_all_the_same_opens_nothing(linked, configure):
    user, _ = linked
    user.set_password(PASSWORD)
    user.save()

    assert log_in("sso:alice") == 401
    configure(allows_passwords=True)
    assert log_in("sso:alice") == 302


def test_for_breaking_the_glass_only_superusers_have_passwords(configure, administrator):
    User.objects.create_superuser("root", password=PASSWORD)
    assert log_in("administrator") == 302
    configure(only_break_glass=True)

    assert log_in("administrator") == 401
    assert log_in("root") == 302
    assert b"In an emergency" in Client().get("/login/").content


def test_without_single_sign_on_there_is_nothing_of_it(settings, viewer):
    settings.SINGLE_SIGN_ON = None

    assert b"sso" not in Client().get("/login/").content
    for path in ("/login/sso/", "/login/sso/callback/", "/logout/sso/"):
        assert Client().get(path).status_code == 404
    assert log_in("viewer") == 302


def test_the_login_page_offers_it_and_keeps_where_one_wanted_to_go(single_sign_on):
    page = Client().get("/login/?next=/topics/%3Fsearch%3Da%26b").content.decode()

    assert "Log in with sso" in page
    assert "/login/sso/?next=%2Ftopics%2F%3Fsearch%3Da%26b" in page


def test_the_users_page_shows_origin_groups_and_last_login(linked, administrator, client_of, provider):
    admin = client_of(administrator)
    page = admin.get("/users/").content.decode()
    assert "viewers" in page
    assert "never" not in page.split("sso:alice")[1].split("</tr>")[0]
    one = admin.get(f"/users/{linked[0].pk}/").content.decode()
    assert provider.issuer in one
    assert "1001" in one
    file = b"".join(admin.get("/users/?format=csv").streaming_content).decode()
    (row,) = [item for item in csv.DictReader(io.StringIO(file)) if item["user"] == "sso:alice"]
    assert (row["provider"], row["identity"], row["groups"]) == ("sso", f"1001 of {provider.issuer}", "viewers")


def test_of_a_linked_account_only_its_login_is_changed_here(linked, administrator, client_of):
    user, client = linked
    admin = client_of(administrator)
    address = f"/users/{user.pk}/"
    typed = {"role": "admin", "level": "operator", "resource": "topic", "pattern": "*"}
    plan = admin.post(address, typed)
    answer = admin.post(address, {**typed, "digest": digest_in(plan)})

    assert answer.status_code == 302
    user.refresh_from_db()
    assert not user.is_active
    assert [group.name for group in user.groups.all()] == ["viewer"]
    assert not user.name_rules.exists()
    assert client.get("/").status_code == 302


def test_a_public_client_sends_no_secret(configure, provider, there_and_back):
    configure(secret_file=None)

    assert there_and_back().status_code == 502, "this provider wants one"
    assert provider.client_ids == (CLIENT_ID,)
