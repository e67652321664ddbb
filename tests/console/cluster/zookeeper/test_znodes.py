"""The browser of znodes: what is there, in a form to read, and nothing that is secret."""

import html

import pytest

ADDRESS = "/zookeeper/znodes/"
SCRAM = b'{"version":1,"config":{"SCRAM-SHA-256":"salt=c2FsdA==,stored_key=aGlkZGVu,server_key=x,iterations=4096"}}'


@pytest.fixture(autouse=True)
def _tree(db, ensemble):
    ensemble.put_all(
        {
            "/controller": b'{"version":2,"brokerid":1}',
            "/brokers/topics/orders/partitions/0/state": b'{"leader":1,"isr":[1,2]}',
            "/config/users/alice": SCRAM,
            "/raw": b"\xff\x00",
            "/empty": b"",
        }
    )
    ensemble.put("/brokers/ids/1", b'{"host":"h"}', ephemeral_owner=0x1000ABC)


def look(client, path: str, **query: str):
    response = client.get(ADDRESS, {"path": path, **query})
    return response, html.unescape(response.content.decode())


@pytest.fixture
def client(viewer, client_of):
    return client_of(viewer)


def test_the_root_is_where_one_begins(client):
    response, text = look(client, "/")
    assert response.status_code == 200
    for name in ("brokers", "config", "controller", "empty", "raw"):
        assert f"?path=/{name}" in text


def test_a_value_is_shown_with_its_stat_its_meaning_and_links(client):
    _, text = look(client, "/brokers/ids/1")
    assert '"host": "h"' in text
    assert "goes with session" in text
    assert "0x1000abc" in text
    assert "A living broker" in text
    assert ">broker 1</a>" in text


def test_a_partition_leads_to_its_topic_and_its_brokers(client):
    _, text = look(client, "/brokers/topics/orders/partitions/0/state")
    assert 'href="/topics/orders/">topic orders</a>' in text
    assert ">broker 2</a>" in text


def test_bytes_are_shown_as_hex_and_the_form_can_be_chosen(client):
    _, text = look(client, "/raw")
    assert "00000000  ff 00" in text
    _, text = look(client, "/controller", **{"as": "text"})
    assert '{"version":2,"brokerid":1}' in text
    assert 'data-form="text"' in text


@pytest.mark.parametrize("form", ["json", "text", "hex", ""])
@pytest.mark.parametrize("person", ["viewer", "operator", "administrator"])
def test_nobody_sees_what_proves_a_password(person, form, request, client_of):
    _, text = look(client_of(request.getfixturevalue(person)), "/config/users/alice", **{"as": form})
    assert "aGlkZGVu" not in text
    assert b"aGlkZGVu".hex(" ") not in text
    assert "Not shown because secret: SCRAM-SHA-256" in text


def test_children_are_paged_and_the_file_has_them_all(client, ensemble):
    for number in range(230):
        ensemble.put(f"/many/{number}")
    _, text = look(client, "/many", page="2")
    assert "230 children" in text
    assert "?path=/many/100" in text
    assert '?path=/many/99"' not in text
    assert "Page 2 of 3" in text
    response = client.get(ADDRESS, {"path": "/many", "format": "csv", "page": "2"})
    assert len(b"".join(response.streaming_content).splitlines()) == 231


def test_a_page_beyond_the_last_one_is_empty_and_says_so(client):
    _, text = look(client, "/", page="99")
    assert "There is no page 99 of these" in text


def test_a_path_that_does_not_exist_is_said_with_the_way_back_up(client):
    response, text = look(client, "/brokers/ids/9")
    assert response.status_code == 404
    assert "There is no znode /brokers/ids/9." in text
    assert '?path=/brokers/ids"' in text


@pytest.mark.parametrize("path", ["brokers", "/a//b", "/a/../b"])
def test_what_is_no_path_is_refused_in_a_sentence(client, path):
    response, text = look(client, path)
    assert response.status_code == 400
    assert "A path" in text


def test_an_ensemble_that_does_not_answer_is_told(client, ensemble):
    ensemble.cut_off()
    response, text = look(client, "/controller")
    assert response.status_code == 503
    assert "ZooKeeper does not answer" in text


def test_a_hostile_name_is_only_text(client, ensemble):
    ensemble.put("/<script>alert(1)</script>x", b"<img src=x>")
    raw = client.get(ADDRESS, {"path": "/"}).content
    assert b"<script>alert" not in raw


def test_an_outsider_sees_nothing(outsider, client_of):
    response = client_of(outsider).get(ADDRESS, {"path": "/controller"})
    assert response.status_code == 403
    assert b"brokerid" not in response.content
