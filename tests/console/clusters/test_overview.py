from console.gateway.zookeeper import ZooKeeperView


def page(client_of, user) -> str:
    return client_of(user).get("/").content.decode()


def test_before_the_first_look_the_page_says_that_nothing_is_known(viewer, client_of):
    text = page(client_of, viewer)

    assert "No data yet" in text
    assert "No broker has been seen yet." in text


def test_a_healthy_cluster_shows_its_numbers(cluster, collect, viewer, client_of):
    cluster.create_topic("orders", 3, 2)
    cluster.append("orders", 0, 1_234)
    collect()
    text = page(client_of, viewer)

    assert "Healthy" in text
    assert "3<small> of 3</small>" in text
    assert "3 partitions" in text
    assert "1\u202f234" in text
    assert 'ws-connect="/ws/live/?page=overview"' in text


def test_a_missing_broker_is_the_first_thing_to_read(cluster, collect, viewer, client_of):
    cluster.create_topic("orders", 3, 1)
    collect()
    cluster.stop_broker(2)
    collect()
    text = page(client_of, viewer)

    assert "Broken" in text
    assert "Broker 2 is not registered: 1 partition of orders has no leader." in text
    assert text.index("Broker 2 is not registered") < text.index('id="tiles"')


def test_a_dead_zookeeper_is_named_with_its_error(collect, zookeeper, viewer, client_of):
    zookeeper[:] = [ZooKeeperView("127.0.0.1:2181", error="refuses connections")]
    collect()

    assert "ZooKeeper 127.0.0.1:2181 refuses connections:" in page(client_of, viewer)


def test_the_page_asks_no_broker(cluster, collect, viewer, client_of):
    collect()
    cluster.cut_off()

    assert client_of(viewer).get("/").status_code == 200
