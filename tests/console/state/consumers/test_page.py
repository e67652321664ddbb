import re
from dataclasses import replace

import pytest


@pytest.fixture(autouse=True)
def _readers(cluster, collect):
    cluster.create_topic("orders", 2, 2)
    cluster.append("orders", 0, 100)
    cluster.groups.join("readers", "app-1", ("orders", 0))
    cluster.commit("readers", "orders", 0, 60)
    collect()


def page(client_of, user, address: str = "/consumers/readers/") -> str:
    return client_of(user).get(address).content.decode()


def test_the_page_names_members_offsets_and_lag(viewer, client_of):
    text = page(client_of, viewer)

    assert ">app</td>" in text
    assert 'data-cell="committed-' in text
    assert ">60<" in text
    assert ">100<" in text
    assert ">40<" in text


def test_members_are_a_file_of_their_own(viewer, client_of):
    answer = client_of(viewer).get("/consumers/readers/?table=members&format=csv")

    assert b"".join(answer.streaming_content).decode().splitlines() == [
        '"group","client","host","partitions","static_id","member","epoch","assigned","target","rack","subscription"',
        '"readers","app","127.0.0.1","1","","app-1","","orders 0","orders 0","",""',
    ]


def test_a_viewer_sees_why_the_button_is_disabled(viewer, operator, client_of):
    assert re.search(r'aria-disabled="true" title="[^"]*role operator[^"]*">Reset offsets…', page(client_of, viewer))
    assert 'href="/consumers/readers/+reset/"' in page(client_of, operator)


def test_only_offsets_of_a_topic_that_nobody_reads_now_are_offered_for_deletion(cluster, collect, operator, client_of):
    cluster.create_topic("clicks", 1, 1)
    cluster.append("clicks", 0, 5)
    cluster.commit("readers", "clicks", 0, 5)
    collect()
    text = page(client_of, operator)
    assert "?topic=clicks" in text
    assert "?topic=orders" not in text


def test_an_outsider_sees_nothing_of_groups_that_are_or_are_not(outsider, client_of):
    for address in ("/consumers/readers/", "/consumers/nobody/"):
        response = client_of(outsider).get(address)
        assert response.status_code == 403
        assert b"orders" not in response.content


def test_a_group_that_is_not_there_is_not_found(viewer, client_of):
    response = client_of(viewer).get("/consumers/nobody/")

    assert response.status_code == 404
    assert b"There is no consumer group nobody." in response.content


def test_lost_records_are_named_by_their_number(cluster, collect, viewer, client_of, monkeypatch):
    whole = cluster.describe_topics()
    cut = [replace(t, partitions=tuple(replace(p, first_offset=75) for p in t.partitions[:1])) for t in whole]
    monkeypatch.setattr(cluster, "describe_topics", lambda: cut)
    collect()

    text = page(client_of, viewer)
    assert "15 lost" in text
    assert "<dt>Lost records</dt>" in text
    assert "lost" not in text.split("Oldest unread expires in")[1].split("</div>")[0]
    assert "lost records" in text


def test_reading_and_arriving_records_stand_side_by_side_and_by_member(cluster, collect, clock, viewer, client_of):
    for look in range(1, 6):
        clock.advance(20_000)
        cluster.append("orders", 0, 2_000)
        cluster.commit("readers", "orders", 0, 60 + 200 * look)
        collect()

    text = page(client_of, viewer)
    assert re.search(r'data-cell="reads"[^>]*>10/s<', text)
    assert re.search(r'data-cell="arrives"[^>]*>100/s<', text)
    assert "Too slow: it reads 10 records/s while 100 records/s arrive" in text
    assert '<td class="number">–</td><td class="number">10</td>' in text, "the member's own"


def test_the_page_says_since_when_the_verdict_holds(cluster, collect, clock, viewer, client_of):
    for _ in range(30):
        clock.advance(20_000)
        collect()
    text = page(client_of, viewer)
    assert "Stopped: it commits nothing" in text, "whether it reads is not known here"
    assert re.search(r"What that means.*Since <time", text)
