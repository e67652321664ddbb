from django.test import Client


def metrics() -> dict[str, float]:
    response = Client().get("/metrics")
    assert response.status_code == 200
    lines = [line for line in response.content.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_metrics_say_what_the_overview_says(cluster, collect):
    cluster.create_topic("orders", 3, 1)
    collect()
    cluster.stop_broker(2)
    collect()
    result = metrics()

    assert result["barnabas_console_brokers_registered"] == 2
    assert result["barnabas_console_brokers_missing"] == 1
    assert result["barnabas_console_partitions"] == 3
    assert result["barnabas_console_partitions_leaderless"] == 1
    assert result["barnabas_console_controller_present"] == 1


def test_metrics_name_no_topic_host_or_person(cluster, collect, operator):
    cluster.create_topic("salaries", 1, 1)
    collect()
    text = Client().get("/metrics").content.decode()

    assert "salaries" not in text
    assert "127.0.0.1" not in text
    assert "operator" not in text
