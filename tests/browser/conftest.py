"""The whole product as a person starts it, and a real Chromium that looks at it."""

import contextlib
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from playwright.sync_api import expect

from tests.barnabas_cluster import await_true
from tests.examples import is_full
from tests.zookeeper_server import free_ports

ROOT = Path(__file__).parent.parent.parent
THEMES, WIDTHS = ("light", "dark"), (1280, 390)
SCREENSHOTS = ROOT / "tests" / "output" / "screenshots"
PASSWORD = "a password for tests"
#: Set in the environment: the product of every journey is started as `make up SECURE=1` does.
IS_SECURED = bool(os.environ.get("SECURED"))
_UP_DEADLINE_S = 90
_STOP_DEADLINE_S = 60
#: By how many pixels a page is wider than its window.
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
#: How long any page may take to show what is expected of it; how fast it is, is measured in benchmarks.
DEADLINE_MS = 60_000

expect.set_options(timeout=DEADLINE_MS)


@dataclass
class Product:
    """`manage.py up`, running; `session` is the first user's, once somebody has logged in."""

    process: subprocess.Popen
    output: Path
    console: str
    bootstrap_servers: str
    data: Path
    environment: dict[str, str]
    session: dict | None = None

    def output_text(self) -> str:
        return self.output.read_text()

    @property
    def client(self) -> dict[str, str]:
        """Settings of librdkafka: on a secured cluster those that the product has written for kcat."""
        settings = {"bootstrap.servers": self.bootstrap_servers}
        if IS_SECURED:
            lines = (self.data / "secrets" / "kcat.conf").read_text().splitlines()
            settings |= dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        return settings

    def manage(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120, check=True
        )


def start_product(
    directory: Path, *, demo: bool = True, documents: str = "", more: Mapping[str, str] = MappingProxyType({})
) -> Product:
    """`more`: of its environment."""
    console, connect, registry = free_ports(3)
    broker = _three_neighbouring_ports()
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("BARNABAS_", "DJANGO_"))},
        "BARNABAS_DATA": str(directory / "data"),
        "BARNABAS_ADMIN_PASSWORD": PASSWORD,
        "BARNABAS_CONSOLE_PORT": str(console),
        "BARNABAS_BROKER_PORT": str(broker),
        "BARNABAS_CONNECT_PORT": str(connect if demo or documents else 0),
        "BARNABAS_REGISTRY_PORT": str(registry if demo or documents else 0),
        "BARNABAS_ZOOKEEPER_PORT": str(_zookeeper_port()),
        "BARNABAS_DEMO": "1" if demo else "0",
        "BARNABAS_DOCUMENTS": documents,
        **({"BARNABAS_SECURE": "1"} if IS_SECURED else {}),
        **more,
    }
    output = directory / "up.log"
    with output.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    servers = ",".join(f"127.0.0.1:{broker + number}" for number in range(3))
    return Product(process, output, f"http://127.0.0.1:{console}", servers, directory / "data", environment)


def _three_neighbouring_ports() -> int:
    """Brokers listen on three ports in a row, and serve metrics on the same row one hundred above; a probe
    listens below those.

    Below the ports that outgoing connections are given: one of those could take a broker's port while it is down.
    """
    for _ in range(100):
        first = random.randrange(15_000, 32_000)
        if all(_is_free(first + more) for more in (0, 1, 2, 99, 100, 101, 102)):
            return first
    raise AssertionError("no three neighbouring free ports")


def _zookeeper_port() -> int:
    """With its quorum and election ports; below those of outgoing connections, as the brokers'."""
    for _ in range(100):
        port = random.randrange(15_000, 30_000)
        if all(_is_free(port + more) for more in (0, 707, 1707)):
            return port
    raise AssertionError("no free port for ZooKeeper")


def _is_free(port: int) -> bool:
    import socket

    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.bind(("127.0.0.1", port))
        return True
    return False


def await_up(product: Product) -> None:
    def is_up() -> bool:
        assert product.process.poll() is None, product.output_text()
        return "bootstrap servers" in product.output_text()

    await_true(is_up, f"up; it said:\n{product.output_text()}", _UP_DEADLINE_S)


def stop_product(product: Product) -> None:
    """As Ctrl-C; then as `make down`, should anything be left."""
    if product.process.poll() is None:
        product.process.send_signal(signal.SIGINT)
    try:
        product.process.wait(_STOP_DEADLINE_S)
    except subprocess.TimeoutExpired:
        product.process.kill()
        product.manage("down")
        raise AssertionError(f"not stopped within {_STOP_DEADLINE_S} s:\n{product.output_text()}") from None


@pytest.fixture(scope="package")
def product(tmp_path_factory):
    """Without the demo, whose Spark job takes as much of a core as everything else together; a connector copies a file.

    It ends with the last test of this folder.
    """
    directory = tmp_path_factory.mktemp("product")
    document = directory / "document.txt"
    document.write_text("a line\nanother line\n")
    with running_product(directory, demo=False, documents=str(document)) as running:
        yield running


@pytest.fixture(scope="package")
def playground(tmp_path_factory):
    """For journeys in which brokers are held up or die: four of them, the probe, and drills may be begun."""
    more = {"BARNABAS_BROKERS": "4", "BARNABAS_PROBE": "1", "BARNABAS_DRILLS": "1"}
    with running_product(tmp_path_factory.mktemp("playground"), demo=False, more=more) as running:
        yield running


@contextlib.contextmanager
def running_product(
    directory: Path, *, demo: bool = True, documents: str = "", more: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Product]:
    running = start_product(directory, demo=demo, documents=documents, more=more)
    try:
        await_up(running)
        yield running
    finally:
        stop_product(running)


@pytest.fixture(scope="package")
def chromium():
    """Ends with its folder: as long as it is open, Playwright keeps an event loop running in this thread."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium found (Debian package chromium); browser journeys are not run")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def console(tmp_path_factory):
    """The address of a web process over the rows of `world.WORLD` and a small cluster in memory."""
    from tests.browser.web_process import web_process
    from tests.browser.world import WORLD
    from tests.console.ecosystem.connectors.lying_server import LyingServer, connector

    with LyingServer() as connect:
        connect.connectors["lines"] = connector("lines", file="/lines.txt")
        offsets = [{"partition": {"filename": "/lines.txt" * 20}, "offset": {"position": 5}}]
        connect.answers["GET", "/connectors/lines/offsets"] = (200, {"offsets": offsets})
        named = {"DJANGO_SETTINGS_MODULE": "tests.browser.settings", "BARNABAS_CONNECT": connect.address}
        # Paths are shown, too.
        place = tmp_path_factory.mktemp("pages_below_a_directory_whose_name_is_wider_than_a_phone")
        with web_process(place, WORLD, **named) as port:
            yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="package")
def session(chromium, console):
    return session_of(chromium, console)


def signed_in(chromium, product: Product, **looks):
    """A window of the first user, whose password is asked for once only."""
    if product.session is None:
        product.session = session_of(chromium, product.console)
    context = chromium.new_context(storage_state=product.session, **looks)
    context.set_default_timeout(DEADLINE_MS)
    return context


@pytest.fixture
def page(chromium, product):
    """Of the first user; what the browser complains about fails the test."""
    context = signed_in(chromium, product, viewport={"width": 1280, "height": 800}, color_scheme="light")
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []


def _is_complaint(message) -> bool:
    """A 404 is an answer, and what was under way when its page was left is given up, of which htmx tells in two lines.
    Everything else the browser reports as an error is a fault of the page.
    """
    no_fault = "status of 404" in message.text or message.text.startswith(("htmx:sendAbort", "htmx:afterRequest"))
    return message.type == "error" and not no_fault


def session_of(chromium, console: str) -> dict:
    """The first user's, logged in once: `chromium.new_context(storage_state=…)` begins with it."""
    context = chromium.new_context()
    context.set_default_timeout(DEADLINE_MS)
    log_in(context.new_page(), console)
    session = context.storage_state()
    context.close()
    return session


def log_in(page, console: str) -> None:
    page.goto(console)
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Overview").wait_for()


def from_menu(page, action: str) -> None:
    """Take an action of the menu in the header of an object."""
    page.locator("#object-menu summary").click()
    page.locator("#object-menu").get_by_role("link", name=action, exact=True).click()


def _is_looked_at() -> bool:
    return is_full() or bool(os.environ.get("SCREENSHOTS"))


def screenshot(page, name: str, *, for_readme: bool = False, **options) -> None:
    """Into tests/output/screenshots, but not in the gate, where nobody looks at them.

    With SCREENSHOTS set in the environment they are taken there too, and the README's own are renewed.
    """
    if not _is_looked_at():
        return
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", **options)
    if for_readme and os.environ.get("SCREENSHOTS"):
        shutil.copy(SCREENSHOTS / f"{name}.png", ROOT / "tests" / "browser" / "screenshots" / f"{name}.png")


def take_pictures(chromium, product: Product, name: str, paths: dict[str, str]) -> None:
    """Every page of `paths`, opened once, as `every_look` shows it; one that is wider than its window fails."""
    context = signed_in(chromium, product)
    page = context.new_page()
    for what, path in paths.items():
        page.goto(product.console + path)
        page.locator("#connection[data-state=live]").wait_for()
        for theme, width in every_look(page):
            screenshot(page, f"{what}-{name}-{width}-{theme}")
            assert page.evaluate(WIDER) <= 0, (path, width, theme)
    context.close()


def every_look(page) -> Iterator[tuple[str, int]]:
    """The open page in each theme and width; in the gate a theme has one of the widths."""
    looks = itertools.product(THEMES, WIDTHS) if _is_looked_at() else zip(THEMES, WIDTHS, strict=True)
    for theme, width in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        yield theme, width
