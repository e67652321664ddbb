"""How soon the overview is usable over a mobile line, in Chromium: its rows are there, and a click is answered."""

import shutil
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from playwright.sync_api import Browser, sync_playwright

from tests.bench.console.house import House


@dataclass(frozen=True, slots=True)
class Line:
    """Kilobits per second down and up, 0 for no limit, and milliseconds that each request waits."""

    name: str
    down: int
    up: int
    latency_ms: int


#: As the developer tools and Lighthouse of Chromium call them; the first shows what this machine itself takes.
LINES = (Line("no limit", 0, 0, 0), Line("3G, fast", 1_600, 750, 150), Line("3G, slow", 400, 400, 400))
TIMES = 5
#: Looks at each frame. The click is a real one on Pause, which only our script answers.
WATCH = """
const seen = {};
window.seen = seen;
function look() {
  const button = document.querySelector("[data-pause-live]");
  if (!seen.rows && document.querySelector("main table tbody tr a")) seen.rows = performance.now();
  if (seen.rows && button && !seen.answer) {
    button.click();
    if (button.getAttribute("aria-pressed") === "true") { seen.answer = performance.now(); button.click(); }
  }
  if (!seen.answer) requestAnimationFrame(look);
}
requestAnimationFrame(look);
"""
MEASURED = """() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
  const files = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return {
    paint, usable: Math.max(window.seen.rows, window.seen.answer),
    bytes: files.reduce((sum, file) => sum + file.transferSize, 0),
    files: files.map((file) => [file.name, file.startTime, file.responseEnd, file.transferSize]),
  };
}"""


def print_first_paint(house: House, cookies: str) -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        print("overview over a mobile line: not measured, as no Chromium is found (Debian package chromium)")
        return
    kept = [
        {"name": name, "value": value, "url": house.address}
        for name, value in (part.split("=", 1) for part in cookies.split("; "))
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for line in LINES:
            for when, measured in measure(browser, house.address, kept, line):
                paint = statistics.median(item["paint"] for item in measured)
                usable = statistics.median(item["usable"] for item in measured)
                size = statistics.median(item["bytes"] for item in measured) / 1_000
                print(
                    f"overview, {line.name}, {when} cache: first paint {paint:5.0f} ms   usable {usable:5.0f} ms   "
                    f"{size:.0f} KB   (3G < 1,000)"
                )


def measure(browser: Browser, address: str, cookies: list, line: Line) -> Iterator[tuple[str, list[dict]]]:
    """What was measured in TIMES loads with a cold cache, and with a warm one."""
    cold, warm = [], []
    for _ in range(TIMES):
        context = browser.new_context()
        context.add_cookies(cookies)
        context.add_init_script(WATCH)
        page = context.new_page()
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        network.send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": line.latency_ms,
                "downloadThroughput": line.down * 1_000 / 8 or -1,
                "uploadThroughput": line.up * 1_000 / 8 or -1,
            },
        )
        for measured in (cold, warm):
            page.goto(f"{address}/")
            page.wait_for_function("window.seen.answer")
            measured.append(page.evaluate(MEASURED))
            page.goto("about:blank")
        context.close()
    yield "cold", cold
    yield "warm", warm
