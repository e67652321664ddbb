"""What a person may not see changes nothing that is shown to them: no count, no order, no chart, no sentence.

Every address is asked twice, before what is hidden is there and behind that.
"""

import re

import pytest

from tests.console.kit.access.test_every_address import CLOSED, address_of
from tests.examples import some

#: An answer's own, whatever it tells: tokens, and the moments it speaks of.
OWN = re.compile(
    r'"x-csrftoken": "\w+"|value="\w{64}"|data-(?:now-ms|at)="\d+"|\d+ s old|\b1\d{12}\b'
    r"|20\d\d-\d\d-\d\d(?:T|%20| )\d\d(?::|%3A)\d\d(?:(?::|%3A)\d\d(?:\.\d+)?)?|\b\d\d:\d\d:\d\d UTC"
)
#: Figures of a broker as a whole, which everybody may see who may look at the cluster.
OF_BROKERS = re.compile(r"leads|[Ll]ead by|replicas|preferred|skew|class=.share|Drain|Demote|>[+-]?\d+.%<")
#: What moves by itself: the console's own requests, and bands up to now.
MOVING = {"footprint", "past-bands"}
#: Files with ages to the millisecond, and with a broker's figures as a whole.
NO_FILES = {"consumers", "topic-consumers", "brokers", "past"}


@pytest.fixture(autouse=True)
def _objects(cluster, ensemble, collect, connect):
    for name in ("orders", "orders-2"):
        cluster.create_topic(name, 2, 2)
        cluster.append(name, 0, 10)
        cluster.commit("orders-readers", name, 0, 1)
    collect()


def add_what_is_hidden(cluster) -> None:
    cluster.create_topic("secret-plans", 7, 2)
    cluster.append("secret-plans", 0, 12_345)
    for group in ("secret-readers", "secret-writers"):
        cluster.commit(group, "secret-plans", 0, 1)


def shown(client) -> dict[str, list[str]]:
    names_and_queries = [(name, "") for name in CLOSED if name not in MOVING]
    names_and_queries += [(name, "?format=csv") for name, _ in names_and_queries if name not in NO_FILES]
    names_and_queries = list(some(names_and_queries, one_in=5))
    results = {}
    for name, more in names_and_queries:
        response = client.get(address_of(name) + more)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        lines = OWN.sub("", content.decode()).splitlines()
        results[name + more] = [str(response.status_code), *(line for line in lines if not OF_BROKERS.search(line))]
    return results


@pytest.mark.parametrize("person", [pytest.param("limited", marks=pytest.mark.long), "tenant"])
@pytest.mark.parametrize("is_whole", [True, pytest.param(False, marks=pytest.mark.long)])
def test_every_answer_is_the_same_with_and_without_what_is_hidden(
    person, is_whole, request, client_of, cluster, collect
):
    client = client_of(request.getfixturevalue(person))
    if not is_whole:
        cluster.stop_broker(3)
    collect()
    before = shown(client)
    add_what_is_hidden(cluster)
    collect()
    after = shown(client)
    differing = {name: sorted({*before[name]} ^ {*after[name]}) for name in before if before[name] != after[name]}
    assert differing == {}
