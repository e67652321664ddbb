"""Another cluster answers by a name: what is kept of the old one is deleted on a page, by who administers, by plan."""

import pytest

from console.kit.audit.models import AuditEvent
from console.kit.common.current_cluster import in_cluster
from console.kit.common.reloading import is_asked_to_reload
from console.kit.plans.gate import the_gate
from console.shell.changes.models import ChangeRule, ProposedChange
from console.shell.fleet.plan import keep_plan, remove_plan
from console.state.clusters.models import ClusterState, Topic
from tests.console.confirming import digest_in
from tests.console.shell.fleet.conftest import ALIAS, STAGING

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])
MAIN, OF_STAGING = "/clusters/+afresh/main/", "/clusters/+afresh/staging/"


@pytest.fixture
def both(look_at_both, cluster, staging, settings, tmp_path):
    """Two clusters with a topic each."""
    settings.RUN_DIR = tmp_path
    cluster.create_topic("orders", 1, 1)
    staging.create_topic("drafts", 1, 1)
    look_at_both()
    return look_at_both


@pytest.fixture
def _another(both):
    """Another cluster answers for staging."""
    with in_cluster(STAGING):
        answers_for_another()


def answers_for_another() -> None:
    ClusterState.objects.update(brokers_error="Another cluster answers: its id is b, and what is kept here is of a.")


def topics(cluster: str = STAGING) -> list[str]:
    with in_cluster(cluster):
        return [topic.name for topic in Topic.objects.all()]


@pytest.mark.usefixtures("_another")
def test_the_refusal_leads_to_it_and_what_is_kept_is_deleted_by_typing_the_name(administrator, client_of, settings):
    admin = client_of(administrator)
    page = admin.get("/clusters/").text
    assert OF_STAGING in page
    assert MAIN not in page
    shown = admin.get(OF_STAGING)
    assert "Deleted is all that was seen of fake-cluster as staging" in shown.text
    digest = digest_in(shown)
    assert admin.post(OF_STAGING, {"digest": digest, "typed_name": "main"}).status_code == 422
    assert topics() == ["drafts"]
    assert admin.post(OF_STAGING, {"digest": digest, "typed_name": "staging"}).status_code == 302
    assert (topics(), topics("main")) == ([], ["orders"])
    assert is_asked_to_reload(settings.RUN_DIR)
    event = AuditEvent.objects.get(action="start afresh")
    assert (event.actor_name, event.object_name, event.result) == (administrator.username, "staging", "done")
    assert event.before == {"cluster_id": "fake-cluster"}


@pytest.mark.usefixtures("both")
def test_a_cluster_that_is_the_one_that_is_known_is_not_forgotten(administrator, client_of):
    admin = client_of(administrator)
    shown = admin.get(OF_STAGING)
    assert "there is nothing to forget" in shown.text
    digest = "x" * 64
    assert admin.post(OF_STAGING, {"digest": digest, "typed_name": "staging"}).status_code == 409
    assert topics() == ["drafts"]
    assert admin.get("/clusters/+afresh/west/").status_code == 404
    assert admin.get("/c/staging/clusters/+afresh/staging/").status_code == 404


@pytest.mark.usefixtures("_another")
def test_who_is_no_administrator_may_not_and_is_not_led_to_it(operator, viewer, client_of):
    for person in (operator, viewer):
        client = client_of(person)
        assert "+afresh" not in client.get("/clusters/").text
        assert client.get(OF_STAGING).status_code == 403
        assert client.post(OF_STAGING, {"digest": "x", "typed_name": "staging"}).status_code == 403
    assert topics() == ["drafts"]


@pytest.mark.usefixtures("both")
def test_it_may_have_to_be_approved_and_the_approval_outlives_it(administrator, client_of, django_user_model):
    rule = {"kind": "approval", "actions": ["start afresh"], "objects": ["*"], "why": "All of it goes"}
    ChangeRule.objects.create(name="all", definition=rule, actor_name="root")
    answers_for_another()
    admin = client_of(administrator)
    admin.post(MAIN, {"digest": digest_in(admin.get(MAIN)), "typed_name": "main"})
    assert topics("main") == ["orders"]
    number = ProposedChange.objects.get().pk
    second = client_of(django_user_model.objects.create_superuser("second"))
    digest = digest_in(second.get(f"/changes/{number}/"))
    assert second.post(f"/changes/{number}/+approve/", {"digest": digest, "typed_name": "main"}).status_code == 302
    assert topics("main") == []
    change = ProposedChange.objects.get()
    assert (change.pk, change.state, change.form) == (number, "done", [])


FREEZE = {
    "kind": "freeze", "actions": ["*"], "objects": ["*"], "from": "2000-01-01T00:00", "to": "2100-01-01T00:00",
    "why": "Black Friday",
}  # fmt: skip


@pytest.mark.usefixtures("_another")
@pytest.mark.parametrize("where", [STAGING, "main"])
def test_it_waits_while_the_rules_of_its_own_cluster_say_so_and_of_that_whose_page_it_is(
    where, administrator, client_of
):
    with in_cluster(where):
        ChangeRule.objects.create(name="sale", definition=FREEZE, actor_name="root")
    admin = client_of(administrator)
    shown = admin.get(OF_STAGING)
    assert "Black Friday" in shown.text
    admin.post(OF_STAGING, {"digest": digest_in(shown), "typed_name": "staging"})
    assert topics() == ["drafts"]
    assert ProposedChange.objects.get().rules == ["sale" if where == "main" else "sale of staging"]


@pytest.mark.usefixtures("_another")
def test_the_rules_of_a_cluster_it_is_not_about_do_not_hold_it(administrator, client_of):
    with in_cluster(STAGING):
        ChangeRule.objects.create(name="sale", definition=FREEZE, actor_name="root")
    answers_for_another()
    admin = client_of(administrator)
    assert admin.post(MAIN, {"digest": digest_in(admin.get(MAIN)), "typed_name": "main"}).status_code == 302
    assert (topics("main"), topics()) == ([], ["drafts"])


@pytest.mark.usefixtures("_another")
def test_nothing_is_forgotten_of_a_cluster_that_is_read_only(administrator, client_of, settings):
    settings.CLUSTERS[STAGING].values["READ_ONLY"] = True
    admin = client_of(administrator)
    shown = admin.get(OF_STAGING)
    assert "is read-only" in shown.text
    admin.post(OF_STAGING, {"digest": digest_in(shown), "typed_name": "staging"})
    assert topics() == ["drafts"]


@pytest.mark.parametrize(
    "plan", [keep_plan(STAGING, {"colour": "red"}, {"colour": "blue"}, {}), remove_plan(STAGING, {"colour": "red"})]
)
@pytest.mark.usefixtures("both")
def test_changing_and_removing_a_cluster_wait_for_its_rules_too(plan):
    with in_cluster(STAGING):
        ChangeRule.objects.create(name="sale", definition=FREEZE, actor_name="root")
    assert "sale of staging" in the_gate().outlook(plan).sentence
