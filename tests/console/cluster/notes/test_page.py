import pytest

from console.cluster.notes.models import TopicNote
from console.kit.access.reach import EVERYTHING
from console.kit.audit.models import AuditEvent
from console.shell.web.shown_rows import render_rows
from console.state.clusters.models import Topic
from tests.console.confirming import digest_in

PAGE = "/topics/orders/+about/"
SAID = {
    "owner": "Team Payments",
    "labels": "pii, team:payments",
    "links": "Runbook https://wiki.example/orders",
    "description": "One record for each order.\r\n\r\n<b>Never</b> deleted.",
}


@pytest.fixture(autouse=True)
def _topics(cluster, collect):
    for name in ("orders", "clicks", "secret-plans"):
        cluster.create_topic(name, 1, 1)
    collect()


def say(client, form=SAID, page: str = PAGE, **options):
    shown = client.post(page, form)
    return client.post(page, {**dict(shown.context["fields"]), "digest": digest_in(shown)}, follow=True, **options)


def test_an_operator_says_whose_it_is_and_everybody_reads_it(operator, viewer, client_of):
    response = say(client_of(operator))
    assert b"What is said about orders was changed." in response.content
    text = client_of(viewer).get("/topics/orders/").content.decode()
    assert "Team Payments" in text
    assert '<a href="https://wiki.example/orders" rel="noopener noreferrer nofollow"' in text
    assert "&lt;b&gt;Never&lt;/b&gt; deleted." in text
    event = AuditEvent.objects.get()
    assert (event.action, event.object_name, event.result) == ("describe topic", "orders", "done")
    assert (event.before["owner"], event.after["owner"]) == ("", "Team Payments")


def test_topics_are_found_by_owner_and_label(operator, viewer, client_of):
    say(client_of(operator))
    for words in ("payments", "pii", "team:pay", "Team Pay"):
        page = client_of(viewer).get("/topics/", {"search": words})
        assert [item.name for item in page.context["page"]] == ["orders"]
    assert b"Team Payments" in client_of(viewer).get("/topics/").content
    file = b"".join(client_of(viewer).get("/topics/?format=csv").streaming_content).decode()
    assert '"Team Payments","pii team:payments"' in file


def test_a_row_that_is_pushed_says_it_too(operator, client_of):
    say(client_of(operator))
    key = Topic.objects.get(name="orders").pk
    ((_, parts),) = render_rows([("topic-row", key)], {}, EVERYTHING).items()
    assert "Team Payments · pii team:payments" in parts[0]


def test_what_is_said_of_a_hidden_topic_finds_nothing(administrator, limited, client_of):
    say(client_of(administrator), page="/topics/secret-plans/+about/")
    page = client_of(limited).get("/topics/", {"search": "pii"})
    assert list(page.context["page"]) == []
    assert client_of(limited).get("/topics/secret-plans/+about/").status_code == 403


def test_what_was_said_before_is_put_back_by_a_plan_of_its_own(operator, client_of):
    client = client_of(operator)
    say(client)
    undo = say(client, {"owner": "", "labels": "", "links": "", "description": ""}).content.decode()
    assert not TopicNote.objects.exists()
    address = undo.split('href="/topics/orders/+about/?undo=')[1].split('"')[0]
    initial = client.get(f"{PAGE}?undo={address}").context["form"].initial
    say(client, initial)
    note = TopicNote.objects.get()
    assert (note.owner, note.labels, note.links) == (
        "Team Payments",
        "pii team:payments",
        [["Runbook", "https://wiki.example/orders"]],
    )
    assert client.get(f"{PAGE}?undo=99999").status_code == 404


def test_what_somebody_else_said_meanwhile_is_not_written_over(operator, client_of):
    client = client_of(operator)
    shown = client.post(PAGE, SAID)
    TopicNote.objects.create(topic="orders", owner="somebody else")
    response = client.post(PAGE, {**dict(shown.context["fields"]), "digest": digest_in(shown)})
    assert (response.status_code, TopicNote.objects.get().owner) == (409, "somebody else")


@pytest.mark.parametrize(
    "wrong",
    [{"labels": "<b>"}, {"links": "javascript:alert(1)"}, {"owner": "x" * 101}, {"description": "x" * 4_001}],
)
def test_what_cannot_be_said_is_told_beside_the_field(wrong, operator, client_of):
    response = client_of(operator).post(PAGE, SAID | wrong)
    assert response.status_code == 422
    assert b'role="alert"' in response.content
    assert not TopicNote.objects.exists()


@pytest.mark.parametrize("person", ["viewer", "outsider"])
def test_others_say_nothing(person, request, client_of):
    client = client_of(request.getfixturevalue(person))
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE, SAID | {"digest": "x"}).status_code == 403
    assert not TopicNote.objects.exists()
