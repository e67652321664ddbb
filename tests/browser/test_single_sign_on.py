"""Somebody comes by single sign-on, in Chromium: there and back, what the group gives, and out at both places."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DEADLINE_MS, SCREENSHOTS, THEMES, WIDER, WIDTHS, log_in
from tests.browser.web_process import web_process
from tests.oidc_provider import CLIENT_ID, SECRET, OidcProvider

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
WORLD = """
from console.state.clusters.models import Partition, Topic
for name in ("orders", "payments.in", "payments.cards"):
    topic = Topic.objects.create(name=name, partition_count=1, replication_factor=1)
    Partition.objects.create(topic=topic, partition=0, leader=1, replicas=[1], isr=[1], first_offset=0, next_offset=5)
"""
RULES = '[groups.payments]\nrules = ["operator on topic payments.*", "nothing on topic payments.cards"]\n'


@pytest.fixture(scope="module")
def provider():
    with OidcProvider() as running:
        running.person |= {"name": "Alice Example", "groups": ["payments", "staff"]}
        yield running


@pytest.fixture(scope="module")
def console(tmp_path_factory, provider):
    directory = tmp_path_factory.mktemp("sso")
    secret, rules = directory / "client-secret", directory / "groups.toml"
    secret.write_text(SECRET)
    rules.write_text(RULES)
    for item in (secret, rules):
        item.chmod(0o600)
    sso_settings = {"ISSUER": provider.issuer, "CLIENT_ID": CLIENT_ID, "NAME": "Acme"}
    sso_settings |= {"CLIENT_SECRET_FILE": str(secret), "RULES_FILE": str(rules)}
    variables = {f"BARNABAS_OIDC_{name}": value for name, value in sso_settings.items()}
    variables["DJANGO_SETTINGS_MODULE"] = "tests.browser.settings"
    with web_process(directory, WORLD, **variables) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
def page(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(DEADLINE_MS)
    yield context.new_page()
    context.close()


def test_a_person_comes_by_the_provider_sees_what_the_group_gives_and_leaves_both(page, console, provider):
    page.goto(f"{console}topics/")
    page.get_by_role("link", name="Log in with Acme").click()
    page.wait_for_url(f"{console}topics/")
    expect(page.get_by_role("link", name="payments.in", exact=True)).to_be_visible()
    assert page.get_by_text("orders").count() == 0
    assert page.get_by_text("payments.cards").count() == 0
    assert page.get_by_role("link", name="Audit").count() == 0
    assert page.get_by_role("link", name="Password").count() == 0
    page.locator(".account summary").click()
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("link", name="Log out at Acme too").click()
    page.wait_for_url(f"{console}login/")
    assert provider.logouts == [{"client_id": CLIENT_ID, "post_logout_redirect_uri": f"{console}login/"}]
    page.goto(f"{console}topics/")
    assert "/login/" in page.url


@pytest.mark.long
def test_its_pages_fit_every_width_in_both_themes(page, console, provider):
    page.goto(f"{console}login/sso/")
    page.wait_for_url(console)
    page.context.clear_cookies()
    provider.refuses = "access_denied"
    page.context.add_cookies([{"name": "barnabas_left", "value": "1", "url": console}])
    places = {"login-left": "login/", "refused": "login/sso/"}
    wide = _look(page, console, places)
    provider.refuses = ""
    log_in(page, console)
    page.goto(f"{console}users/")
    number = page.get_by_role("link", name="Acme:alice").get_attribute("href").strip("/").rpartition("/")[2]
    wide |= _look(page, console, {"users": "users/", "user": f"users/{number}/", "audit": "audit/"})
    assert {name: pixels for name, pixels in wide.items() if pixels > 0} == {}, json.dumps(wide)


def _look(page, console: str, places: dict[str, str]) -> dict[str, int]:
    """By how many pixels each is wider than its window; and a picture of each to look at."""
    widths = {}
    for name, path in places.items():
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                page.goto(console + path)
                widths[f"{name} {theme} {width}"] = page.evaluate(WIDER)
                SCREENSHOTS.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=SCREENSHOTS / f"sso-{name}-{theme}-{width}.png")
    return widths
