"""Pages travel compressed; files and streams do as they did."""

import gzip

PACKED = {"Accept-Encoding": "gzip, br"}


def test_a_page_is_compressed_for_who_takes_it(viewer, client_of, cluster, collect):
    collect()
    client = client_of(viewer)
    plain, packed = client.get("/"), client.get("/", headers=PACKED)

    assert "Content-Encoding" not in plain.headers
    assert packed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed["Vary"]
    assert gzip.decompress(packed.content).decode().endswith("</html>\n")
    assert 3 * len(packed.content) < len(plain.content)


def test_the_length_of_a_page_tells_nothing_of_its_token(viewer, client_of, cluster, collect):
    collect()
    client = client_of(viewer)
    lengths = {len(client.get("/topics/", headers=PACKED).content) for _ in range(20)}

    assert len(lengths) > 5


def test_a_stream_is_sent_as_it_comes(viewer, client_of, cluster, collect):
    collect()
    response = client_of(viewer).get("/", {"format": "csv"}, headers=PACKED)

    assert response.streaming
    assert "Content-Encoding" not in response.headers


def test_the_login_page_has_the_browser_fetch_the_script_meanwhile(client):
    assert '<link rel="preload" as="script" href="/static/bundle/app.' in client.get("/login/").content.decode()
