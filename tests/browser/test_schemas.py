"""A schema is registered, tried out, made stricter and deleted; a record is read by it; an open page follows."""

import pytest
from playwright.sync_api import expect

from tests.barnabas_cluster import running_cluster
from tests.browser.conftest import DEADLINE_MS, THEMES, WIDER, WIDTHS, from_menu, screenshot, session_of
from tests.browser.small_cluster import ID_VARIABLE
from tests.browser.web_process import collecting, web_process
from tests.redis_server import running_redis
from tests.registry_process import running_registries

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(400)]
WORLD = """
from console.state.clusters.models import Topic
Topic.objects.create(name="orders", partition_count=1, replication_factor=2)
"""
FIRST = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"int"}]}'
UNFIT = FIRST.replace("}]}", '},{"name":"price","type":"int"}]}')
FIT = FIRST.replace("}]}", '},{"name":"note","type":"string","default":""}]}')


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    directory = tmp_path_factory.mktemp("schemas")
    with (
        running_cluster(directory) as brokers,
        running_registries(directory, brokers.bootstrap_servers) as [processes],
    ):
        yield processes


@pytest.fixture(scope="module")
def console(tmp_path_factory, registry):
    """Web process and collector, which tells open pages of changes."""
    directory = tmp_path_factory.mktemp("web")
    with running_redis() as redis:
        named = {
            "DJANGO_SETTINGS_MODULE": "tests.browser.settings",
            "BARNABAS_SCHEMA_REGISTRY_URL": registry.url,
            "BARNABAS_REDIS_URL": redis,
            ID_VARIABLE: registry.ask("GET", "/v1/metadata/id").body["scope"]["clusters"]["kafka-cluster"],
        }
        with web_process(directory, WORLD, **named) as port, collecting(directory, **named):
            yield f"http://127.0.0.1:{port}"


@pytest.fixture
def page(chromium, console):
    context = chromium.new_context(storage_state=session_of(chromium, console))
    context.set_default_timeout(DEADLINE_MS)
    yield context.new_page()
    context.close()


def looked_at(page, name: str) -> None:
    """In both themes and widths; wider than the window it is not."""
    for theme in THEMES:
        for width in WIDTHS:
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            screenshot(page, f"schemas-{name}-{width}-{theme}", full_page=True)
            assert page.evaluate(WIDER) <= 0
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})


def tried(page, text: str) -> None:
    page.get_by_label("Schema", exact=True).fill(text)
    page.get_by_role("button", name="Try out").click()


@pytest.mark.long
def test_the_journey_of_a_schema_and_of_a_record_by_it(page, console):
    page.goto(f"{console}/schemas/")
    expect(page.locator("tbody")).to_contain_text("Nothing is registered yet")
    page.get_by_role("link", name="Register a schema…").click()
    page.get_by_label("Subject").fill("orders-value")
    tried(page, FIRST)
    expect(page.locator("#plan")).to_contain_text("It fits")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name="orders-value")).to_be_visible()

    page.get_by_role("link", name="New version…").click()
    tried(page, UNFIT)
    expect(page.locator("#plan")).to_contain_text("READER_FIELD_MISSING_DEFAULT_VALUE")
    looked_at(page, "unfit")
    tried(page, FIT)
    looked_at(page, "plan")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name="Version 1 and version 2")).to_be_visible()
    expect(page.locator("tr.come", has_text="note")).to_be_visible()
    looked_at(page, "subject")

    from_menu(page, "Compatibility…")
    page.get_by_label("Compatibility").select_option("FULL")
    page.get_by_role("button", name="Preview").click()
    looked_at(page, "settings")
    page.get_by_role("button", name="Change settings").click()
    expect(page.locator("#object-figures")).to_contain_text("FULL")

    page.goto(f"{console}/topics/orders/+records/")
    page.locator("#produce summary").click()
    page.get_by_label("Key and value are").select_option("schema")
    page.get_by_label("Value", exact=True).fill('{"id": "seven"}')
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.locator("#produce .wrong").first).to_contain_text("id: “seven” is no int")
    page.get_by_label("Value", exact=True).fill('{"id": 7, "note": "by schema"}')
    page.get_by_role("button", name="Produce", exact=True).click()
    expect(page.locator("main")).to_contain_text("by schema")
    looked_at(page, "record")
    page.goto(f"{console}/topics/orders/+records/")
    expect(page.locator("#record-rows")).to_contain_text("Avro, schema 2")
    looked_at(page, "records")
    page.get_by_role("link", name="Avro, schema 2").first.click()
    expect(page.locator("main")).to_contain_text("orders-value version 2")
    looked_at(page, "of-id")

    page.goto(f"{console}/schemas/")
    page.get_by_label("Search subjects").fill("orders")
    expect(page.locator("#subject-table")).to_contain_text("FULL")
    looked_at(page, "list")
    page.goto(f"{console}/schemas/orders-value/+delete/?version=2")
    looked_at(page, "delete")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()


def test_what_somebody_else_registers_and_deletes_is_on_the_open_page_without_a_reload(page, console, registry):
    page.goto(f"{console}/schemas/")
    page.locator("#connection[data-state=live]").wait_for()
    page.evaluate("window.isTheSame = true")
    table = page.locator("#subject-table")
    expect(table).not_to_contain_text("parcels-value")
    assert registry.ask("POST", "/subjects/parcels-value/versions", {"schema": FIRST}).status == 200
    expect(table).to_contain_text("parcels-value")
    looked_at(page, "live")
    assert registry.ask("DELETE", "/subjects/parcels-value").status == 200
    expect(table).not_to_contain_text("parcels-value")
    assert page.evaluate("window.isTheSame")
