"""Two clusters in one console: each address is of one, and nothing of the other is on its page."""

import re
from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from console.kit.access.models import ClusterRole
from console.kit.common.current_cluster import in_cluster
from console.kit.common.databases import cluster_atomic
from console.state.clusters.models import Topic
from tests.console.shell.fleet.conftest import ALIAS, STAGING

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])


@pytest.fixture
def filled(cluster, staging, look_at_both):
    cluster.create_topic("orders-of-main", 3, 2)
    staging.create_topic("orders-of-staging", 2, 1)
    look_at_both()
    return look_at_both


def test_each_collector_writes_to_the_database_of_its_cluster(filled):
    assert list(Topic.objects.values_list("name", flat=True)) == ["orders-of-main"]
    with in_cluster(STAGING):
        assert list(Topic.objects.values_list("name", flat=True)) == ["orders-of-staging"]


def test_a_page_shows_the_cluster_that_its_address_names(filled, client_of, viewer):
    client = client_of(viewer)
    of_main, of_staging = client.get("/topics/").text, client.get("/c/staging/topics/").text
    assert _topics_on(of_main) == {"orders-of-main"}
    assert _topics_on(of_staging) == {"orders-of-staging"}


def test_every_link_of_a_page_stays_in_its_cluster(filled, client_of, viewer):
    page = client_of(viewer).get("/c/staging/topics/").text
    assert 'href="/c/staging/topics/orders-of-staging/"' in page
    links = {match for match in re.findall('(?:href|action)="([^"]+)"', page) if match.startswith("/")}
    assert {link for link in links if not link.startswith(("/c/staging/", "/static/"))} == {"/clusters/"}


def test_what_is_not_there_in_the_other_cluster_is_not_found(filled, client_of, viewer):
    client = client_of(viewer)
    assert client.get("/c/staging/topics/orders-of-main/").status_code == 404
    assert client.get("/topics/orders-of-staging/").status_code == 404


def test_the_first_cluster_has_one_address(filled, client_of, viewer):
    answer = client_of(viewer).get("/c/main/topics/?search=a")
    assert (answer.status_code, answer["Location"]) == (308, "/topics/?search=a")
    assert client_of(viewer).get("/c/main//evil.example/")["Location"] == "/evil.example/"


@pytest.mark.parametrize("name", ["nobody", "-", "%2e%2e", "Staging", "x" * 300, ""])
def test_an_unknown_cluster_is_not_found_whatever_it_is_called(filled, client_of, viewer, administrator, name):
    for person in (viewer, administrator):
        answer = client_of(person).get(f"/c/{name}/topics/")
        assert answer.status_code == 404
        assert _topics_on(answer.text) == set()


def test_where_there_is_one_cluster_no_address_is_of_another(settings, client_of, administrator):
    settings.CLUSTERS = {}
    for address in ("/c/staging/topics/", "/c/-/", "/c/staging/clusters/"):
        assert client_of(administrator).get(address).status_code == 404


def test_who_is_not_logged_in_learns_of_no_cluster(filled, client):
    known, unknown = client.get("/c/staging/topics/"), client.get("/c/nobody/topics/")
    assert known.status_code == unknown.status_code == 302
    assert known["Location"].replace("staging", "nobody") == unknown["Location"]
    assert unknown["Location"].startswith("/login/?next=/c/nobody/")


def test_to_who_may_not_look_a_cluster_is_one_that_does_not_exist(filled, client_of, viewer):
    ClusterRole.objects.create(user=viewer, cluster=STAGING, role="nothing")
    client = client_of(viewer)
    hidden, unknown = client.get("/c/staging/topics/"), client.get("/c/nobody/topics/")
    assert hidden.status_code == unknown.status_code == 404
    assert _alike(hidden.text).replace("staging", "nobody") == _alike(unknown.text)
    for address in ("/", "/topics/", "/clusters/", "/find/?text=s"):
        assert "staging" not in client.get(address).text.lower(), address


def test_who_may_look_at_another_cluster_alone_is_led_there(filled, client_of, outsider):
    ClusterRole.objects.create(user=outsider, cluster=STAGING, role="viewer")
    client = client_of(outsider)
    assert client.get("/")["Location"] == "/clusters/"
    page = client.get("/clusters/")
    assert "Staging" in page.text
    assert "Production" not in page.text
    assert client.get("/c/staging/topics/").status_code == 200
    assert client.get("/topics/").status_code == 404


def test_a_role_of_one_cluster_gives_and_takes_there_alone(filled, client_of, operator, viewer):
    ClusterRole.objects.create(user=operator, cluster=STAGING, role="viewer")
    ClusterRole.objects.create(user=viewer, cluster=STAGING, role="operator")
    statuses = {
        (person.username, address): client_of(person).get(f"{address}topics/+create/").status_code
        for person in (operator, viewer)
        for address in ("/", "/c/staging/")
    }
    assert statuses == {
        ("operator", "/"): 200,
        ("operator", "/c/staging/"): 403,
        ("viewer", "/"): 403,
        ("viewer", "/c/staging/"): 200,
    }


def test_processes_are_those_of_the_first_cluster(filled, client_of, administrator):
    client = client_of(administrator)
    for route in ("processes", "streams", "rolling-restart", "process-add-broker"):
        place = reverse(route)
        assert client.get(place).status_code == 200, route
        assert client.get(f"/c/staging{place}").status_code == 404, route


def test_each_page_says_in_its_colour_which_cluster_it_is(filled, client_of, viewer):
    client = client_of(viewer)
    main, staging = client.get("/topics/").text, client.get("/c/staging/topics/").text
    for page, colour, title in ((main, "red", "Production"), (staging, "green", "Staging")):
        assert f'cluster-strip" data-colour="{colour}"' in page
        assert f"{title} · Barnabas</title>" in page


def test_with_one_cluster_nothing_says_so(collect, client_of, viewer):
    collect()
    page = client_of(viewer).get("/").text
    assert [name for name in ("cluster-strip", "in-fleet", "/clusters/") if name in page] == []


@pytest.mark.parametrize(
    ("place", "there"),
    [
        ("/topics/", "/c/staging/topics/"),
        ("/topics/orders-of-staging/", "/c/staging/topics/orders-of-staging/"),
        ("/topics/orders-of-main/+settings/", "/c/staging/topics/"),
        ("/topics/orders-of-staging/+delete/", "/c/staging/topics/orders-of-staging/"),
        ("/brokers/3/", "/c/staging/brokers/"),
        ("/processes/", "/c/staging/"),
        ("//evil.example/", "/c/staging/"),
        ("https://evil.example", "/c/staging/"),
        ("/" + "x" * 3_000, "/c/staging/"),
    ],
)
def test_the_switch_leads_to_the_nearest_page_there_is(filled, client_of, operator, place, there):
    answer = client_of(operator).get("/clusters/+switch/staging/", {"from": place})
    assert (answer.status_code, answer["Location"]) == (302, there)


def test_a_change_in_a_transaction_is_of_its_cluster_alone(filled):
    with in_cluster(STAGING), suppress(ZeroDivisionError), cluster_atomic():
        Topic.objects.all().delete()
        raise ZeroDivisionError
    with in_cluster(STAGING):
        assert Topic.objects.count() == 1


def _topics_on(page: str) -> set[str]:
    return set(re.findall("orders-of-(?:main|staging)", page))


def test_an_account_that_goes_takes_its_roles_along(staging, viewer):
    ClusterRole.objects.create(user=viewer, cluster=STAGING, role="operator")
    User.objects.get(pk=viewer.pk).delete()
    assert not ClusterRole.objects.exists()


def _alike(page: str) -> str:
    """Without what is another each time."""
    return re.sub('data-now-ms="[0-9]+"|"x-csrftoken": "[^"]+"|value="[A-Za-z0-9]{64}"', "", page)
