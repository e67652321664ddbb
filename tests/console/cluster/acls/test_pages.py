"""The pages of access lists: what each shows, to whom, and what it says where nothing can be shown."""

import pytest

from console.kit.gateway.acls.interface import Denials
from console.state.clusters.models import Topic
from tests.console.cluster.acls.rules import allow, deny, on_cluster

PAGES = ["/access-lists/", "/access-lists/rules/", "/access-lists/try-out/", "/access-lists/denials/"]


@pytest.fixture(autouse=True)
def _orders(db):
    Topic.objects.create(name="orders", partition_count=1)
    Topic.objects.create(name="orders-eu", partition_count=1)


def rows(response) -> dict[tuple[str, str], dict[str, bool]]:
    return {
        (row.principal, row.name): {decision.operation: decision.is_allowed for decision in row.decisions}
        for row in response.context["page"]
    }


@pytest.mark.parametrize("address", PAGES)
def test_a_cluster_without_an_authorizer_says_what_to_set(address, cluster, viewer, client_of):
    response = client_of(viewer).get(address)
    assert response.status_code == 200
    assert "authorizer.class.name=kafka.security.authorizer.AclAuthorizer" in response.content.decode()


@pytest.mark.parametrize("address", PAGES)
def test_a_cluster_that_does_not_answer_is_told_on_the_page(address, acls, cluster, viewer, client_of):
    cluster.cut_off()
    response = client_of(viewer).get(address)
    assert (response.status_code, "No broker answered in time." in response.content.decode()) == (503, True)


@pytest.mark.parametrize("address", PAGES)
def test_who_may_not_see_all_names_sees_no_access_list(address, acls, limited, outsider, client_of):
    assert client_of(outsider).get(address).status_code == 403
    response = client_of(limited).get(address)
    assert response.status_code == 403
    assert "your rights do not reach all of them" in response.content.decode()
    assert "/access-lists/" not in client_of(limited).get("/").content.decode()


def test_the_matrix_has_who_is_connected_by_rules_what_is_allowed_and_what_decides(acls, viewer, client_of):
    acls.create(
        [allow("User:alice", "READ", "orders", pattern="PREFIXED"), deny("User:alice", "DESCRIBE", "orders-eu")]
    )
    response = client_of(viewer).get("/access-lists/")
    result = rows(response)
    assert list(result) == [("User:alice", "orders"), ("User:alice", "orders-eu")]
    assert result["User:alice", "orders"]["DESCRIBE"]
    assert not result["User:alice", "orders-eu"]["DESCRIBE"]
    text = response.content.decode()
    assert (
        '<span title="ALLOW User:alice Read on Topic orders (prefix) from any host">allow Read on orders…</span>'
        in text
    )
    assert "To be allowed to Read is to be allowed to Describe." in text
    assert "What denies counts before all that allows." in text


def test_pairs_of_which_no_rule_speaks_are_there_when_asked_for(acls, viewer, client_of):
    result = rows(client_of(viewer).get("/access-lists/?everything=on&principal=bob"))
    assert result.keys() == {("User:bob", "orders"), ("User:bob", "orders-eu")}
    assert not any(allowed for reading in result.values() for allowed in reading.values())


def test_an_operation_that_is_asked_for_is_the_only_column(acls, viewer, client_of):
    acls.create([allow("User:alice", "READ"), allow("User:bob", "WRITE")])
    response = client_of(viewer).get("/access-lists/?operation=READ")
    assert rows(response) == {("User:alice", "orders"): {"READ": True}}
    described = rows(client_of(viewer).get("/access-lists/?operation=DESCRIBE"))
    assert described.keys() == {("User:alice", "orders"), ("User:bob", "orders")}


def test_ten_thousand_rules_are_pages_and_search(acls, viewer, client_of):
    acls.create([allow(f"User:{number:05}", "READ", f"topic-{number:05}") for number in range(10_000)])
    response = client_of(viewer).get("/access-lists/?page=3")
    assert response.context["page"].paginator.count == 10_000
    assert len(response.context["page"].object_list) == 50
    assert response.context["page"].object_list[0].principal == "User:00100"
    assert list(rows(client_of(viewer).get("/access-lists/?principal=09999"))) == [("User:09999", "topic-09999")]
    rules = client_of(viewer).get("/access-lists/rules/?name=topic-0123")
    assert rules.context["page"].paginator.count == 10


def test_rules_are_a_list_with_filters_and_a_file(acls, viewer, client_of):
    acls.create([allow("User:alice", "READ"), deny("User:bob", "ALL", "*")])
    text = client_of(viewer).get("/access-lists/rules/?permission=DENY").content.decode()
    assert ("User:bob" in text, "User:alice" in text.split("<tbody>")[1]) == (True, False)
    file = b"".join(client_of(viewer).get("/access-lists/rules/?format=csv").streaming_content).decode()
    assert '"TOPIC","*","LITERAL","User:bob","DENY","ALL","*"' in file
    matrix = b"".join(client_of(viewer).get("/access-lists/?format=csv&operation=READ").streaming_content).decode()
    assert '"User:alice","TOPIC","orders","","*","Read","no","yes","DENY' not in matrix
    assert '"User:alice","TOPIC","orders","","*","Read","yes","yes","ALLOW User:alice Read on Topic orders' in matrix


def test_the_try_out_answers_with_the_rule_that_decides(acls, viewer, client_of):
    acls.create([allow("User:alice", "READ", host="10.0.0.1"), deny("User:*", "WRITE", "*")])
    client = client_of(viewer)
    address = "/access-lists/try-out/?principal=User:alice&resource=TOPIC&name=orders"
    allowed = client.get(f"{address}&operation=READ&host=10.0.0.1").content.decode()
    assert "Read is allowed by the rule: ALLOW User:alice Read on Topic orders from 10.0.0.1." in allowed
    assert "Read is denied: rules match this resource" in client.get(f"{address}&operation=READ").content.decode()
    assert "Write is denied by the rule: DENY User:*" in client.get(f"{address}&operation=WRITE").content.decode()
    other = client.get("/access-lists/try-out/?principal=User:alice&resource=GROUP&name=g&operation=ALTER")
    assert "cannot be done with such a resource" in other.content.decode()


def test_what_a_cluster_does_not_tell_is_said_to_be_not_known(acls, viewer, client_of):
    acls.super_users = acls.allows_if_none = None
    acls.create([allow("User:alice", "READ")])
    client = client_of(viewer)
    address = "/access-lists/try-out/?resource=TOPIC&operation=WRITE&principal=User:bob&name="
    assert "this cluster does not report them" in client.get(f"{address}orders").content.decode()
    text = client.get(f"{address}elsewhere").content.decode()
    assert "This cluster does not report that setting (false is Kafka&#x27;s default)" in text
    assert "does not report its super users" in client.get("/access-lists/").content.decode()


def test_a_super_user_may_do_everything_and_no_rule_is_said_to_decide(acls, viewer, client_of):
    acls.super_users = frozenset({"User:root"})
    acls.create([deny("User:root", "ALL")])
    result = rows(client_of(viewer).get("/access-lists/?principal=root"))
    assert all(allowed for reading in result.values() for allowed in reading.values())
    assert {name for _, name in result} == {"orders", "orders-eu"}


def test_denials_are_told_with_the_last_and_lead_to_the_reason_and_to_a_rule(acls, administrator, viewer, client_of):
    acls.denied = (
        Denials("User:bob", 12, 1_700_000_000_000, "User:bob", "10.0.0.1", "READ", "TOPIC", "orders"),
        Denials("others", 3, 1_700_000_000_000, "User:<b>", "10.0.0.1", "READ", "TOPIC", "o"),
    )
    text = client_of(administrator).get("/access-lists/denials/").content.decode()
    assert '<td class="number" data-label="denials">12</td>' in text
    assert "User:<b>" not in text
    assert (
        "try-out/?principal=User%3Abob&amp;operation=READ&amp;resource=TOPIC&amp;name=orders&amp;host=10.0.0.1" in text
    )
    assert "+create/?principal=User%3Abob" in text
    assert "+create/" not in client_of(viewer).get("/access-lists/denials/").content.decode()


def test_brokers_that_do_not_tell_denials_are_said_to_log_them(acls, viewer, client_of):
    acls.denied = None
    assert "kafka-authorizer.log" in client_of(viewer).get("/access-lists/denials/").content.decode()


NONSENSE = ["?resource=NONSENSE&operation=FLY&page=x", "?page=99999999&host=%00", "?operation=READ&resource=CLUSTER"]


@pytest.mark.parametrize("query", NONSENSE)
@pytest.mark.parametrize("address", PAGES)
def test_no_page_fails_for_what_it_is_asked(address, query, acls, viewer, client_of):
    acls.create([on_cluster("User:alice", "ALTER")])
    assert client_of(viewer).get(address + query).status_code == 200
