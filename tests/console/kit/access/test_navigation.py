"""Nobody is offered what would be refused, and a refusal says what to ask for."""

import re

import pytest

from console.kit.access.models import NameRule
from console.state.clusters.models import Topic


@pytest.fixture
def limited(outsider):
    """May see topics called orders-*, and nothing else by name."""
    NameRule.objects.create(user=outsider, resource="topic", pattern="orders-*", level="viewer")
    return outsider


def offered(client) -> list[str]:
    """The entries of the sidebar, each with the tabs that the page it leads to shows."""
    entries = links_in(client.get("/"), "Pages")
    return sorted(
        {*entries, *(tab for entry in entries for tab in links_in(client.get(entry), "Pages beside this one"))}
    )


def links_in(response, label: str) -> list[str]:
    """Of the `nav` with that label; none where there is no such."""
    nav = re.search(rf'<nav[^>]* aria-label="{label}".*?</nav>', response.content.decode(), re.DOTALL)
    return re.findall(r'<a [^>]*href="([^"]*)"', nav[0]) if nav else []


@pytest.mark.parametrize("person", ["limited", "viewer", "administrator"])
def test_every_page_in_the_navigation_opens(person, request, client_of, cluster, ensemble):
    client = client_of(request.getfixturevalue(person))
    addresses = offered(client)
    assert {address: client.get(address).status_code for address in addresses} == dict.fromkeys(addresses, 200)


def test_what_rules_keep_from_a_person_is_not_in_the_navigation(limited, viewer, client_of, cluster):
    assert {"/consumers/", "/processes/", "/streams/"} & set(offered(client_of(limited))) == set()
    assert {"/topics/", "/retention/"} <= set(offered(client_of(limited)))
    assert {"/consumers/", "/processes/", "/streams/"} <= set(offered(client_of(viewer)))


@pytest.mark.parametrize(
    ("address", "rule"),
    [
        ("/topics/payments/", "viewer on topic payments"),
        ("/topics/orders-eu/+records/", "reader on topic orders-eu"),
        ("/consumers/", "viewer on group *"),
        ("/consumers/readers/", "viewer on group readers"),
        ("/processes/broker-1/", "viewer on process broker-1"),
    ],
)
def test_a_refusal_names_the_rule_to_ask_for(address, rule, limited, client_of):
    Topic.objects.create(name="orders-eu", partition_count=1)
    response = client_of(limited).get(address)
    assert response.status_code == 403
    assert rule in response.content.decode()


def test_where_a_rule_takes_away_it_is_said_that_giving_does_not_help(operator, client_of):
    NameRule.objects.create(user=operator, resource="topic", pattern="pay*", level="nothing")
    text = client_of(operator).get("/topics/payments/").content.decode()
    assert "A rule takes it away" in text
    assert "viewer on topic payments" in text


def test_who_may_see_no_process_sees_none_on_the_page_of_a_rolling_restart(limited, client_of):
    assert client_of(limited).get("/processes/+rolling-restart/").status_code == 403
