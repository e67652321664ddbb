"""Kafka's users as people meet them: made, given another password and deleted by plan; and no password anywhere."""

import io
import logging

import pytest
from asgiref.sync import sync_to_async
from django.core.management import call_command

from console.cluster.credentials.models import ScramUser
from console.kit.audit.models import AuditEvent
from console.kit.gateway.quotas.interface import QuotaEntity, QuotaUse
from console.kit.live.person_socket import CLOSE_FORBIDDEN
from tests.console.confirming import digest_in
from tests.console.live_pages import look, open_page

PASSWORD = "Tr0ub4dor&3-known-to-the-test"
NEW = {"name": "alice", "mechanisms": ["SCRAM-SHA-256", "SCRAM-SHA-512"], "iterations": "4096"}
TYPED, MADE = {"password_is": "typed"}, {"password_is": "generated"}


@pytest.fixture
def browser(administrator, client_of, cluster):
    return client_of(administrator)


@pytest.fixture
def alice(cluster, collector) -> ScramUser:
    """By both mechanisms."""
    cluster.credentials.set_password("alice", "the old password", {"SCRAM-SHA-256": 4_096, "SCRAM-SHA-512": 8_192})
    collector.look("users")
    return ScramUser.objects.get()


def text_of(response) -> str:
    return response.content.decode().replace("\u202f", " ")


def confirm(browser, address: str, form: dict, **more: str):
    shown = browser.post(address, form)
    assert shown.status_code == 200, text_of(shown)
    return browser.post(address, {**form, "digest": digest_in(shown), **more})


def test_a_password_that_is_made_here_is_shown_once_and_logs_in(browser, cluster):
    done = confirm(browser, "/kafka-users/+create/", NEW | MADE)
    made = done.context["password"]
    assert text_of(done).count(made) == 1
    assert "no-store" in done.headers["Cache-Control"]
    assert len(made) == 24
    for mechanism in NEW["mechanisms"]:
        assert cluster.credentials.knows("alice", made, mechanism)
    for address in ("/kafka-users/", "/audit/", "/kafka-users/?format=csv", "/"):
        assert made not in b"".join(browser.get(address)).decode()


def test_a_page_that_is_sent_again_gives_no_second_password(browser, cluster, alice):
    for address, form in (("/kafka-users/+create/", NEW | {"name": "bob"}), (_password_of(alice), NEW)):
        form = form | MADE
        digest = digest_in(browser.post(address, form))
        first = browser.post(address, form | {"digest": digest})
        again = browser.post(address, form | {"digest": digest})
        assert again.status_code in (409, 422)
        assert "password" not in again.context
        name = form["name"] if "create" in address else "alice"
        assert cluster.credentials.knows(name, first.context["password"], "SCRAM-SHA-256")


def test_a_typed_password_counts_and_its_form_comes_with_the_plan(browser, cluster):
    shown = browser.post("/kafka-users/+create/", NEW | TYPED)
    assert 'name="password"' in text_of(shown)
    assert "No access rule names the user" not in text_of(shown)
    done = confirm(browser, "/kafka-users/+create/", NEW | TYPED, password=PASSWORD)
    assert (done.status_code, done.headers["Location"]) == (302, "/kafka-users/")
    assert cluster.credentials.knows("alice", PASSWORD, "SCRAM-SHA-512")
    assert ScramUser.objects.get().mechanisms == {"SCRAM-SHA-256": 4_096, "SCRAM-SHA-512": 4_096}


@pytest.mark.parametrize("password", ["", "short", "x" * 257, "with-umlaut-ü", "with\ttab-in-it"])
def test_what_is_no_password_is_refused_and_not_repeated(password, browser, cluster):
    refused = confirm(browser, "/kafka-users/+create/", NEW | TYPED, password=password)
    assert refused.status_code == 422
    assert not password or password not in text_of(refused).replace("password", "")
    assert cluster.credentials.describe().users == {}


@pytest.mark.parametrize("name", ["__cluster", ".", "..", "ünal", "x" * 1_025, ""])
def test_a_name_by_which_nobody_could_log_in_is_refused(name, browser):
    assert browser.post("/kafka-users/+create/", NEW | MADE | {"name": name}).status_code == 422


def test_a_known_password_is_in_no_row_no_log_and_on_no_page(browser, cluster, alice, caplog, settings):
    caplog.set_level(logging.DEBUG)
    confirm(browser, "/kafka-users/+create/", NEW | TYPED | {"name": "bob"}, password=PASSWORD)
    confirm(browser, _password_of(alice), NEW | TYPED, password=PASSWORD)
    confirm(browser, "/kafka-users/+create/", NEW | TYPED | {"name": "eve"}, password=PASSWORD[:7])
    assert cluster.credentials.knows("alice", PASSWORD, "SCRAM-SHA-256")
    assert not cluster.credentials.knows("alice", "the old password", "SCRAM-SHA-512")
    seen = [b"".join(browser.get(page)).decode() for page in ("/kafka-users/", "/audit/", "/audit/?format=csv")]
    kept = io.StringIO()
    call_command("dumpdata", stdout=kept)
    salted = cluster.credentials._users["bob"]["SCRAM-SHA-256"]
    assert "alice" in kept.getvalue()
    requests = settings.REQUEST_LOG_FILE.read_text() if settings.REQUEST_LOG_FILE.exists() else ""
    for place in (*seen, kept.getvalue(), caplog.text, requests):
        assert PASSWORD not in place
        assert PASSWORD[:7] not in place
        assert not any(part in place for part in salted.split(",")[:3])
    assert {event.result for event in AuditEvent.objects.all()} == {"done"}


def test_a_new_password_names_who_is_cut_off_and_what_goes_on(browser, cluster, alice):
    form = {"mechanisms": ["SCRAM-SHA-512"], "iterations": "16384"} | MADE
    text = text_of(browser.post(_password_of(alice), form))
    assert "Clients with the old password of alice cannot log in any more" in text
    assert "By SCRAM-SHA-256 the old password goes on to count" in text
    assert "Irreversible." in text
    confirm(browser, _password_of(alice), form)
    assert cluster.credentials.knows("alice", "the old password", "SCRAM-SHA-256")
    assert not cluster.credentials.knows("alice", "the old password", "SCRAM-SHA-512")
    assert cluster.credentials.describe().users["alice"] == {"SCRAM-SHA-256": 4_096, "SCRAM-SHA-512": 16_384}


def test_deleting_needs_the_name_and_says_what_cannot_come_back(browser, cluster, collector, alice):
    cluster.quotas.change(QuotaEntity(user="alice"), {"producer_byte_rate": 1_000})
    cluster.brokers.used[1] = (QuotaUse("producer_byte_rate", "alice", "", "", 1_000, 400, 0),)
    collector.look("quotas")
    address = f"/kafka-users/{alice.pk}/+delete/"
    shown = browser.get(address)
    for sentence in (
        "cannot log in by SCRAM any more",
        "cannot be given back",
        "1 quota that name alice stays",
        "400 B / s",
    ):
        assert sentence in text_of(shown)
    digest = digest_in(shown)
    assert browser.post(address, {"digest": digest}).status_code == 422
    assert "alice" in cluster.credentials.describe().users
    assert browser.post(address, {"digest": digest, "typed_name": "alice"}).status_code == 302
    assert cluster.credentials.describe().users == {}
    assert not ScramUser.objects.exists()
    assert browser.get(address).status_code == 404


def test_one_mechanism_alone_can_be_taken(browser, cluster, alice):
    address = f"/kafka-users/{alice.pk}/+delete/?mechanism=SCRAM-SHA-256"
    shown = browser.get(address)
    assert "By SCRAM-SHA-512 alice logs in as before" in text_of(shown)
    form = {"mechanism": "SCRAM-SHA-256", "digest": digest_in(shown), "typed_name": "alice"}
    browser.post(address, form)
    assert cluster.credentials.describe().users == {"alice": {"SCRAM-SHA-512": 8_192}}


def test_a_creation_is_undone_by_deleting(browser, cluster):
    done = confirm(browser, "/kafka-users/+create/", NEW | MADE)
    address = f"/kafka-users/{done.context['scram_user'].pk}/+delete/"
    assert address in text_of(done)
    confirm_delete = {"digest": digest_in(browser.get(address)), "typed_name": "alice"}
    browser.post(address, confirm_delete)
    assert cluster.credentials.describe().users == {}


def test_the_console_does_not_lock_itself_out(browser, cluster, alice):
    cluster.credentials.own_user = "alice"
    for address in (_password_of(alice), f"/kafka-users/{alice.pk}/+delete/"):
        refused = confirm(browser, address, NEW | MADE, typed_name="alice")
        assert refused.status_code == 409
        assert "lock themselves out" in text_of(refused)
    assert cluster.credentials.knows("alice", "the old password", "SCRAM-SHA-256")


def test_a_user_who_is_there_already_is_not_made_again(browser, alice):
    refused = browser.post("/kafka-users/+create/", NEW | MADE)
    assert refused.status_code == 422
    assert "change its password instead" in text_of(refused)


def test_the_list_has_iterations_rules_and_quotas(cluster, collector, alice, viewer, client_of):
    cluster.credentials.rule_counts = {"alice": 17}
    cluster.quotas.change(QuotaEntity(user="alice", client_id="app"), {"producer_byte_rate": 1_000})
    collector.look("users")
    collector.look("quotas")
    text = text_of(client_of(viewer).get("/kafka-users/"))
    for shown in ("alice", "SCRAM-SHA-256", "8 192", "17", '?search=alice">1</a>'):
        assert shown in text
    rows = b"".join(client_of(viewer).get("/kafka-users/?format=csv")).decode().splitlines()
    assert rows[1] == '"alice","4096","8192","1","17"'


def test_operators_see_users_and_give_no_passwords(operator, alice, client_of):
    browser = client_of(operator)
    assert browser.get("/kafka-users/").status_code == 200
    for address in ("/kafka-users/+create/", _password_of(alice), f"/kafka-users/{alice.pk}/+delete/"):
        assert browser.get(address).status_code == browser.post(address, NEW | MADE).status_code == 403


def test_who_may_not_see_every_name_sees_no_user(cluster, collector, limited, client_of):
    cluster.credentials.set_password("secret-user", "the old password", {"SCRAM-SHA-256": 4_096})
    collector.look("users")
    for address in ("/kafka-users/", "/kafka-users/?format=csv", f"/kafka-users/{ScramUser.objects.get().pk}/+delete/"):
        answer = client_of(limited).get(address)
        assert answer.status_code == 403
        assert "secret-user" not in text_of(answer)


@pytest.mark.django_db(transaction=True)
async def test_a_changed_row_reaches_pages_that_show_it(limited, viewer):
    user = await sync_to_async(ScramUser.objects.create)(name="alice", mechanisms={"SCRAM-SHA-256": 4_096})
    assert await (await open_page(limited, "credentials")).receive_close() == CLOSE_FORBIDDEN
    page = await open_page(viewer, "credentials", f"scram-row-{user.pk}")
    await look(1, {"scram-row": [user.pk]}, tier="credentials")
    assert "alice" in await page.receive_text()
    await page.disconnect()


def _password_of(user: ScramUser) -> str:
    return f"/kafka-users/{user.pk}/+password/"
