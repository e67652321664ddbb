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


@pytest.mark.parametrize("page", PAGES + OPERATOR_PAGES + ADMINISTRATOR_PAGES)
def test_nobody_is_sent_to_the_login_and_back(page):
    response = Client().get(page)

    assert (response.status_code, response.url) == (302, f"/login/?next={quote(page)}")


@pytest.mark.parametrize("page", [*PAGES, *OPERATOR_PAGES, *ADMINISTRATOR_PAGES, "/topics/unknown/"])
def test_outsider_sees_nothing_and_reads_why(page, outsider, client_of):
    response = client_of(outsider).get(page)

    assert response.status_code == 403
    assert b"role" in response.content
    assert b"orders" not in response.content


@pytest.mark.parametrize("page", PAGES)
def test_reader_sees_the_pages(page, reader, client_of):
    assert client_of(reader).get(page).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_viewer_sees_all_of_them_but_records(page, viewer, client_of):
    assert client_of(viewer).get(page).status_code == (403 if "+records" in page else 200)


@pytest.mark.parametrize("page", OPERATOR_PAGES + ADMINISTRATOR_PAGES)
def test_viewer_is_refused_what_changes_things(page, viewer, client_of):
    assert client_of(viewer).get(page).status_code == 403


@pytest.mark.parametrize("page", ADMINISTRATOR_PAGES)
def test_administrator_sees_the_audit_and_operator_does_not(page, operator, administrator, client_of):
    assert client_of(operator).get(page).status_code == 403
    assert client_of(administrator).get(page).status_code == 200


@pytest.mark.parametrize("page", PAGES + OPERATOR_PAGES)
def test_pages_hold_no_inline_script_or_style_and_forbid_it(page, operator, client_of):
    response = client_of(operator).get(page)

    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    text = response.content.decode()
    assert "<style" not in text
    assert " style=" not in text
    assert "<script>" not in text


def test_unknown_address_says_so(viewer, client_of):
    response = client_of(viewer).get("/nowhere/")

    assert response.status_code == 404
    assert b"There is nothing at this address" in response.content
