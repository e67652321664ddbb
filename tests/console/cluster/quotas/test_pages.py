"""Quotas as people meet them: seen with their use, changed by plan, taken back, and hidden from who may not see all."""

import json

import pytest
from asgiref.sync import sync_to_async

from console.cluster.quotas.models import QuotaRow
from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.quotas.interface import QuotaEntity, QuotaUse
from console.kit.live.person_socket import CLOSE_FORBIDDEN
from tests.console.confirming import digest_in
from tests.console.live_pages import look, open_page

PRODUCE, CONNECT = "producer_byte_rate", "connection_creation_rate"
ALICE, EVERYBODY = QuotaEntity(user="alice"), QuotaEntity(user="<default>")


@pytest.fixture
def set_quota(cluster, collector):
    def set_(entity: QuotaEntity, **values: float) -> None:
        cluster.quotas.change(entity, values)
        collector.look("quotas")

    return set_


@pytest.fixture
def used(cluster, collector):
    """used(rate=…, throttled_ms=…): alice produces at broker 2, and the collector looks."""

    def use(user: str = "alice", limit: float = 1_000, rate: float = 0, throttled_ms: int = 0) -> None:
        cluster.brokers.used[2] = (QuotaUse(PRODUCE, user, "", "", limit, rate, throttled_ms),)
        collector.look("quotas")

    return use


def text_of(response) -> str:
    return response.content.decode().replace("\u202f", " ")


def form(about: str = "user", **typed: str) -> dict[str, str]:
    return {"about": about, **typed}


def test_the_list_has_limits_beside_their_use_and_who_waits(set_quota, used, clock, viewer, client_of):
    set_quota(ALICE, producer_byte_rate=1_000, request_percentage=12.5)
    used(rate=500, throttled_ms=100)
    clock.advance(2_000)
    used(rate=1_500, throttled_ms=1_100)
    text = text_of(client_of(viewer).get("/quotas/"))
    for shown in (
        "user alice",
        "1 KB / s",
        "1.5 KB / s",
        "broker 2",
        "waits 500 ms of each second",
        "12.5 %",
        "no use seen",
    ):
        assert shown in text
    assert "user alice" in text_of(client_of(viewer).get("/quotas/?throttled=on"))
    used(rate=10, throttled_ms=1_100)
    clock.advance(2_000)
    used(rate=10, throttled_ms=1_100)
    assert "user alice" not in text_of(client_of(viewer).get("/quotas/?throttled=on"))


def test_a_broker_that_started_again_makes_nobody_wait_less_than_nothing(set_quota, used, clock):
    set_quota(ALICE, producer_byte_rate=1_000)
    used(throttled_ms=5_000)
    clock.advance(1_000)
    used(throttled_ms=40)
    assert [item.wait_ms for item in QuotaRow.objects.get().seen] == [40]


def test_a_change_is_previewed_done_told_and_taken_back(cluster, set_quota, used, operator, client_of):
    set_quota(EVERYBODY, producer_byte_rate=9_000)
    used(limit=9_000, rate=5_000)
    browser, typed = client_of(operator), form(user="alice", producer_byte_rate="2 KB")
    shown = browser.post("/quotas/+change/", typed)
    text = text_of(shown)
    assert "user alice uses 5 KB / s on broker 2 now and is slowed to 2 KB / s." in text
    assert "kafka-configs.sh" in text
    assert ALICE not in cluster.quotas.describe()

    done = browser.post("/quotas/+change/", typed | {"digest": digest_in(shown)}, follow=True)
    assert cluster.quotas.describe()[ALICE] == {PRODUCE: 2_000}
    assert "2 KB / s" in text_of(done)
    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.result) == ("change quotas", "user alice", "done")
    assert event.after == {PRODUCE: "2000 (2\u202fKB / s)"}

    (message,) = list(done.context["messages"])
    back = str(message).split('href="')[1].split('"')[0].replace("&amp;", "&")
    undo = {name: item or "" for name, item in browser.get(back).context["form"].initial.items()}
    shown = browser.post("/quotas/+change/", undo)
    assert "the quota of default user counts then, 9 KB / s" in text_of(shown)
    assert "user alice uses" in text_of(shown)
    browser.post("/quotas/+change/", undo | {"digest": digest_in(shown)})
    assert ALICE not in cluster.quotas.describe()


def test_quotas_that_were_taken_away_are_put_back_long_after_it(cluster, set_quota, operator, client_of):
    set_quota(ALICE, producer_byte_rate=2_500)
    browser, nothing = client_of(operator), form(user="alice")
    shown = browser.post("/quotas/+change/", nothing)
    browser.post("/quotas/+change/", nothing | {"digest": digest_in(shown)})
    assert ALICE not in cluster.quotas.describe()
    page = browser.get("/quotas/+change/")
    ((kept, address),) = page.context["changed"]
    assert (kept.object_name, address in text_of(page).replace("&amp;", "&")) == ("user alice", True)
    undo = {name: item or "" for name, item in browser.get(address).context["form"].initial.items()}
    shown = browser.post("/quotas/+change/", undo)
    browser.post("/quotas/+change/", undo | {"digest": digest_in(shown)})
    assert cluster.quotas.describe()[ALICE] == {PRODUCE: 2_500}


def test_who_is_freed_is_named(set_quota, used, clock, operator, client_of):
    set_quota(ALICE, producer_byte_rate=1_000)
    used(rate=1_000)
    clock.advance(1_000)
    used(rate=1_000, throttled_ms=250)
    shown = client_of(operator).post("/quotas/+change/", form(user="alice"))
    assert "waits 250 ms of each second, and is held back no more" in text_of(shown)
    assert "user alice is not limited any more" in text_of(shown)


def test_a_client_that_writes_in_bursts_is_judged_by_its_last_minutes(set_quota, used, clock, operator, client_of):
    set_quota(ALICE, producer_byte_rate=1_000)
    used(rate=1_000)
    clock.advance(30_000)
    used(rate=5_000, throttled_ms=250)
    clock.advance(30_000)
    used(rate=0, throttled_ms=250)
    browser = client_of(operator)
    removed = text_of(browser.post("/quotas/+change/", form(user="alice")))
    assert "was held back in the last minutes, and is held back no more" in removed
    lowered = text_of(browser.post("/quotas/+change/", form(user="alice", producer_byte_rate="500")))
    assert "at most 5 KB / s in the last minutes, and is slowed to 500 B / s" in lowered


def test_whom_a_quota_does_not_reach_is_said(set_quota, operator, client_of):
    set_quota(ALICE, producer_byte_rate=1_000)
    shown = client_of(operator).post("/quotas/+change/", form("client-id", client_id="app", producer_byte_rate="1"))
    assert "does not count for user alice" in text_of(shown)


def test_who_would_slow_the_console_is_told(cluster, set_quota, operator, client_of):
    cluster.credentials.own_user = "console"
    shown = client_of(operator).post("/quotas/+change/", form(request_percentage="1"))
    assert "The console itself is console" in text_of(shown)
    shown = client_of(operator).post("/quotas/+change/", form(user="alice", request_percentage="1"))
    assert "The console itself" not in text_of(shown)


@pytest.mark.parametrize("rate", ["0", "1", ""])
def test_who_may_connect_from_an_address_is_for_administrators(rate, cluster, set_quota, operator, client_of):
    entity = QuotaEntity(ip="10.0.0.1")
    set_quota(entity, connection_creation_rate=5)
    browser, typed = client_of(operator), form("ip", ip="10.0.0.1", connection_creation_rate=rate)
    shown = browser.post("/quotas/+change/", typed)
    assert "needs the role admin" in shown.context["plan"].obstacle
    confirmed = typed | {"digest": digest_in(shown), "typed_name": "address 10.0.0.1"}
    assert browser.post("/quotas/+change/", confirmed).status_code == 403
    text = "quotas:\n  - ip: 10.0.0.1\n    connection_creation_rate: 1\n"
    shown = browser.post("/declaration/", {"text": text, "file": "x.yaml"})
    applied = browser.post("/declaration/", {"text": text, "file": "x.yaml", "digest": digest_in(shown)})
    assert "needs the role admin" in text_of(applied)
    assert cluster.quotas.describe()[entity] == {CONNECT: 5}


def test_cutting_an_address_off_needs_its_name(cluster, set_quota, administrator, client_of):
    browser, typed = client_of(administrator), form("ip", ip="10.0.0.1", connection_creation_rate="0")
    digest = digest_in(browser.post("/quotas/+change/", typed))
    assert browser.post("/quotas/+change/", typed | {"digest": digest}).status_code == 422
    named = typed | {"digest": digest, "typed_name": "address 10.0.0.1"}
    assert browser.post("/quotas/+change/", named).status_code == 302
    assert cluster.quotas.describe()[QuotaEntity(ip="10.0.0.1")] == {CONNECT: 0}


@pytest.mark.parametrize(
    "typed",
    [
        form(user="alice", producer_byte_rate="fast"),
        form(user="alice", producer_byte_rate="0"),
        form(user="alice", producer_byte_rate="-1"),
        form(user="alice", request_percentage="nan"),
        form(user="alice", connection_creation_rate="1"),
        form("ip", ip="10.0.0.1", producer_byte_rate="1"),
        form("ip", user="alice", connection_creation_rate="1"),
        form("everything", producer_byte_rate="1"),
    ],
)
def test_what_can_be_no_quota_is_refused_at_its_field(typed, cluster, operator, client_of):
    assert client_of(operator).post("/quotas/+change/", typed).status_code == 422
    assert cluster.quotas.describe() == {}


def test_what_changed_meanwhile_is_not_written_over(cluster, operator, client_of):
    browser, typed = client_of(operator), form(user="alice", producer_byte_rate="2 KB")
    digest = digest_in(browser.post("/quotas/+change/", typed))
    cluster.quotas.change(ALICE, {"request_percentage": 5})
    assert browser.post("/quotas/+change/", typed | {"digest": digest}).status_code == 409
    assert cluster.quotas.describe()[ALICE] == {"request_percentage": 5}


@pytest.mark.parametrize(
    ("code", "heading"),
    [
        ("UNSUPPORTED_VERSION", "Not kept by this cluster."),
        ("SECURITY_DISABLED", "Security is off in this cluster."),
        ("CLUSTER_AUTHORIZATION_FAILED", "The console may not see them."),
    ],
)
def test_a_cluster_that_does_not_tell_says_why(code, heading, cluster, collector, operator, client_of):
    cluster.quotas.refused = cluster.credentials.refused = RefusedError(code, "a sentence of the cluster")
    collector.look("quotas")
    collector.look("users")
    for address in ("/quotas/", "/kafka-users/"):
        text = text_of(client_of(operator).get(address))
        assert heading in text
        assert "a sentence of the cluster" in text
    refused = client_of(operator).post("/quotas/+change/", form(user="alice", producer_byte_rate="1"))
    assert refused.status_code == 422
    assert "a sentence of the cluster" in text_of(refused)


def test_a_file_has_what_the_page_has_and_no_formula(set_quota, viewer, client_of):
    set_quota(QuotaEntity(user="%3D1%2B1"), producer_byte_rate=1_000)
    set_quota(ALICE, producer_byte_rate=2_000)
    rows = b"".join(client_of(viewer).get("/quotas/?format=csv&search=user")).decode().splitlines()
    assert len(rows) == 3
    assert '"user alice","2000.0"' in rows[2]


def test_who_may_not_see_every_name_sees_no_quota(set_quota, limited, tenant, outsider, client_of):
    set_quota(QuotaEntity(user="secret-user"), producer_byte_rate=1_000)
    for person in (limited, tenant, outsider):
        for address in ("/quotas/", "/quotas/?format=csv", "/quotas/+try/?user=secret-user", "/quotas/+change/"):
            answer = client_of(person).get(address)
            assert answer.status_code == 403
            assert "secret-user" not in text_of(answer).replace("user=secret-user", "")
        assert "/quotas/" not in text_of(client_of(person).get("/"))


@pytest.mark.django_db(transaction=True)
async def test_a_changed_row_reaches_pages_that_show_it_and_no_others(limited, viewer, operator):
    row = await sync_to_async(QuotaRow.objects.create)(
        digest="d", path="users/alice", words="user alice", rank=3, values={PRODUCE: 5_000.0}
    )
    assert await (await open_page(limited, "quotas")).receive_close() == CLOSE_FORBIDDEN
    other, page = await open_page(limited, "topics", f"quota-row-{row.pk}"), None
    page = await open_page(viewer, "quotas", f"quota-row-{row.pk}")
    await look(1, {"quota-row": [row.pk]}, tier="quotas")
    seen = await page.receive_text()
    assert "user alice" in seen
    assert "Change…" not in seen
    may_change = await open_page(operator, "quotas", f"quota-row-{row.pk}")
    assert "Change…" in await may_change.receive_text()
    await may_change.disconnect()
    await look(2, {"quota-row": [row.pk]}, pages=["topics"], tier="quotas")
    assert "alice" not in await other.receive_text()
    await page.disconnect()
    await other.disconnect()


def test_a_look_writes_only_what_reads_differently(set_quota, used, django_assert_max_num_queries, collector):
    for number in range(30):
        set_quota(QuotaEntity(user=f"user-{number}"), producer_byte_rate=1_000)
    with django_assert_max_num_queries(18) as queries:
        collector.look("quotas")
    assert not any("INSERT" in query["sql"] and "quotarow" in query["sql"] for query in queries.captured_queries)
    assert json.dumps(QuotaRow.objects.first().values) == '{"producer_byte_rate": 1000.0}'
