"""Every page of the console, asked by nobody, by somebody without a role, and by a viewer."""

from urllib.parse import quote

import pytest
from django.test import Client

PAGES = [
    "/",
    "/topics/",
    "/topics/orders/",
    "/brokers/",
    "/placement/",
    "/topics/orders/+retention/",
    "/topics/orders/+records/",
]
PAGES += [
    "/consumers/",
    "/consumers/readers/",
    "/topics/orders/+consumers/",
    "/history/",
    "/topics/orders/+settings/",
    "/topics/orders/+history/",
]
OPERATOR_PAGES = ["/placement/+elect/", "/topics/+create/", "/topics/orders/+delete/"]
OPERATOR_PAGES += ["/consumers/readers/+reset/", "/consumers/readers/+delete/"]
OPERATOR_PAGES += ["/consumers/readers/+forget/?topic=orders"]
ADMINISTRATOR_PAGES = ["/audit/", "/audit/+verify/"]


@pytest.fixture(autouse=True)
def _seen(cluster, collect):
    cluster.create_topic("orders", 3, 1)
    cluster.commit("readers", "orders", 0, 0)
    collect()


def statuses(client: Client, pages: list[str]) -> dict[str, int]:
    return {page: client.get(page).status_code for page in pages}


def test_nobody_is_sent_to_the_login_and_back():
    responses = {page: Client().get(page) for page in PAGES + OPERATOR_PAGES + ADMINISTRATOR_PAGES}

    assert {page: (answer.status_code, answer.url) for page, answer in responses.items()} == {
        page: (302, f"/login/?next={quote(page)}") for page in responses
    }


def test_outsider_sees_nothing_and_reads_why(outsider, client_of):
    client = client_of(outsider)
    for page in [*PAGES, *OPERATOR_PAGES, *ADMINISTRATOR_PAGES, "/topics/unknown/"]:
        response = client.get(page)
        assert response.status_code == 403, page
        assert b"role" in response.content, page
        assert b"orders" not in response.content, page


def test_reader_sees_the_pages(reader, client_of):
    assert statuses(client_of(reader), PAGES) == dict.fromkeys(PAGES, 200)


def test_viewer_sees_all_of_them_but_records(viewer, client_of):
    expected = {page: 403 if "+records" in page else 200 for page in PAGES}
    assert statuses(client_of(viewer), PAGES) == expected


def test_viewer_is_refused_what_changes_things(viewer, client_of):
    refused = OPERATOR_PAGES + ADMINISTRATOR_PAGES
    assert statuses(client_of(viewer), refused) == dict.fromkeys(refused, 403)


def test_administrator_sees_the_audit_and_operator_does_not(operator, administrator, client_of):
    assert statuses(client_of(operator), ADMINISTRATOR_PAGES) == dict.fromkeys(ADMINISTRATOR_PAGES, 403)
    assert statuses(client_of(administrator), ADMINISTRATOR_PAGES) == dict.fromkeys(ADMINISTRATOR_PAGES, 200)


def test_pages_hold_no_inline_script_or_style_and_forbid_it(operator, client_of):
    client = client_of(operator)
    for page in PAGES + OPERATOR_PAGES:
        response = client.get(page)
        assert "script-src 'self'" in response["Content-Security-Policy"], page
        assert "unsafe" not in response["Content-Security-Policy"], page
        text = response.content.decode()
        for inline in ("<style", " style=", "<script>"):
            assert inline not in text, page


def test_unknown_address_says_so(viewer, client_of):
    response = client_of(viewer).get("/nowhere/")

    assert response.status_code == 404
    assert b"There is nothing at this address" in response.content
