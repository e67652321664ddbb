import pytest


@pytest.fixture(autouse=True)
def _orders(cluster, collect):
    cluster.create_topic("orders", 3, 2)
    cluster.append("orders", 2, 1_500)
    collect()


def page(client_of, user) -> str:
    return client_of(user).get("/topics/orders/").content.decode()


def test_the_page_shows_partitions_with_offsets(viewer, client_of):
    text = page(client_of, viewer)

    for number in range(3):
        assert f'id="partition-{number}"' in text
    assert "1\u202f500" in text
    assert 'ws-connect="/ws/live/?page=topic:orders"' in text


def test_a_replica_out_of_sync_is_marked_by_a_word(cluster, collect, viewer, client_of):
    cluster.stop_broker(2)
    collect()
    text = page(client_of, viewer)

    assert 'title="broker 2: out of sync"' in text
    assert "1 of 2 in sync" in text
    assert "2 under-replicated" in text


def test_a_partition_without_leader_says_so(cluster, collect, viewer, client_of):
    cluster.stop_broker(2)
    cluster.stop_broker(3)
    collect()

    assert "no leader" in page(client_of, viewer)


def test_an_unknown_topic_is_not_found(viewer, client_of):
    response = client_of(viewer).get("/topics/unknown/")

    assert response.status_code == 404
    assert b"There is no topic unknown." in response.content


def test_only_an_operator_sees_the_delete_button(viewer, operator, client_of):
    assert "+delete/" in page(client_of, operator)
    assert "+delete/" not in page(client_of, viewer)


@pytest.mark.parametrize("name", ["create", "a.b_c-1", "overview"])
def test_a_topic_may_have_any_legal_name(name, cluster, collect, viewer, client_of):
    cluster.create_topic(name, 1, 1)
    collect()

    assert client_of(viewer).get(f"/topics/{name}/").context["topic"].name == name


def test_a_leader_that_is_not_the_first_replica_is_not_preferred(cluster, collect, viewer, client_of):
    assert "not preferred" not in page(client_of, viewer)
    cluster.stop_broker(2)
    collect()

    assert page(client_of, viewer).count("not preferred") == 1


def test_replicas_show_their_sizes_in_assignment_order(collector, collect, viewer, client_of):
    collector.look("sizes")
    collect()

    assert "150\u202fKB" in page(client_of, viewer)


def test_fewer_in_sync_than_the_minimum_is_said_in_words(cluster, collect, viewer, client_of):
    cluster.create_topic("payments", 1, 2, {"min.insync.replicas": "2"})
    cluster.stop_broker(2)
    collect()
    text = client_of(viewer).get("/topics/payments/").content.decode()

    assert '<span class="badge critical">1 in sync, below min 2</span>' in text
    assert "1 below min ISR" in text


def test_a_page_of_partitions_costs_the_same_queries_however_many(
    cluster, collect, viewer, client_of, django_assert_max_num_queries
):
    cluster.create_topic("wide", 60, 2)
    collect()
    client = client_of(viewer)
    with django_assert_max_num_queries(25):
        client.get("/topics/wide/")
