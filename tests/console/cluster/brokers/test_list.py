def test_registered_and_missing_brokers_are_told_apart_by_a_word(cluster, collect, viewer, client_of):
    collect()
    cluster.stop_broker(3)
    collect()
    page = client_of(viewer).get("/brokers/").content.decode()
    text = page[page.index('id="broker-table"') :]

    assert text.count("registered</span>") == 2
    assert text.count("missing</span>") == 1
    assert "127.0.0.1:9094" in text
    assert "controller</span>" in text
