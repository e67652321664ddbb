"""The worker and the registry that `make up` starts, on their pages: found unasked, and named to who stops one."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import take_pictures

pytestmark = [pytest.mark.browser, pytest.mark.timeout(280)]


def test_connectors_and_schemas_are_those_of_the_servers_beside_the_brokers(page, product, chromium):
    page.goto(f"{product.console}/connectors/")
    row = page.get_by_role("row", name="documents-document.txt")
    expect(row).to_contain_text("running")
    page.goto(f"{product.console}/schemas/")
    expect(page.locator("#subject-table")).to_contain_text("default compatibility BACKWARD")
    page.goto(f"{product.console}/processes/schema-registry/")
    expect(page.locator("[data-cell=state]")).to_have_text("healthy")
    page.goto(f"{product.console}/processes/connect/stop")
    expect(page.locator("main")).to_contain_text("documents-document.txt stands still meanwhile.")
    expect(page.locator("main")).to_contain_text("Nothing new comes to documents.lines meanwhile.")
    paths = {"connectors": "/connectors/", "connector": "/connectors/documents-document.txt/", "schemas": "/schemas/"}
    take_pictures(chromium, product, "page", paths)
