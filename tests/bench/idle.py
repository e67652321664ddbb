"""`python -m tests.bench.idle`: what the whole product takes while nothing happens, by process.

CPU seconds, of which a busy machine changes little, and proportional memory (PSS): what processes share counts once.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import psutil
from websockets.asyncio.client import connect

from console.processes.readiness import read_progress
from tests.barnabas_cluster import await_true
from tests.browser.conftest import PASSWORD, Product, start_product, stop_product
from tests.chaos.truth import processes_of

#: How a process is recognised by its command line, the first that fits.
NAMES = (
    ("QuorumPeerMain", "zookeeper"),
    ("pyspark.", "Spark: Python workers"),
    ("SparkSubmit", "Spark: JVM"),
    ("broker stream ", "Spark: driver"),
    ("broker server ", "brokers"),
    ("broker connect-worker ", "Connect worker"),
    ("broker registry ", "schema registry"),
    ("console.shell.launch.fork_server", "fork server"),
    ("console.shell.launch.web", "web"),
    ("console.shell.launch.worker", "worker with beat"),
    ("console collect", "collector"),
    ("broker probe ", "probe"),
    ("redis-server", "Redis"),
    ("valkey-server", "Redis"),
    ("console.shell.launch.staying", "up"),
)
SPARK = "Spark"
#: Other work on the machine may take it nearly all.
_UP_DEADLINE_S = 400
_SPARK_DEADLINE_S = 400


@dataclass(frozen=True, slots=True)
class Use:
    """Of all processes of one name."""

    processes: int
    cpu_seconds: float
    pss_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.idle", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120, help="how long each state is watched")
    parser.add_argument("--settle", type=float, default=90, help="how long it rests before, once everything runs")
    parser.add_argument("--no-demo", action="store_true", help="without demo sources and stream job")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="barnabas-idle-") as directory:
        measure(Path(directory), arguments)


def measure(directory: Path, arguments: argparse.Namespace) -> None:
    product = start_product(directory, demo=not arguments.no_demo)
    try:
        await_true(lambda: _is_up(product), "everything up", _UP_DEADLINE_S)
        if not arguments.no_demo:
            _await_stream_job(product)
        time.sleep(arguments.settle)
        alone = asyncio.run(watch(product, arguments.seconds, _nobody))
        seen = asyncio.run(watch(product, arguments.seconds, _open_page))
    finally:
        stop_product(product)
    print_table(alone, seen, arguments.seconds)


def _is_up(product: Product) -> bool:
    assert product.process.poll() is None, product.output_text()
    return "bootstrap servers" in product.output_text()


def _await_stream_job(product: Product) -> None:
    directory = product.data / "streams" / "access-counts"
    await_true(lambda: read_progress(directory).get("state") == "running", "the stream job", _SPARK_DEADLINE_S)


async def watch(product: Product, seconds: float, audience: Callable[[Product], Awaitable[None]]) -> dict[str, Use]:
    """What each kind of process took in `seconds` while `audience` looked on."""
    looking = asyncio.create_task(audience(product))
    await asyncio.sleep(5)  # opening the page is no part of it
    before, began = _cpu_by_name(product), time.monotonic()
    await asyncio.sleep(seconds)
    if looking.done():
        looking.result()
    after, passed = _cpu_by_name(product), time.monotonic() - began
    memory = _memory_by_name(product)
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking
    return {
        name: Use(memory[name][0], (cpu - before.get(name, 0.0)) * seconds / passed, memory[name][1])
        for name, cpu in after.items()
    }


async def _nobody(_product: Product) -> None:
    await asyncio.Event().wait()


async def _open_page(product: Product) -> None:
    """The overview, as a browser has it open: its socket, and nothing fetched besides."""
    cookies = await asyncio.to_thread(_log_in, product.console)
    address = f"{product.console.replace('http', 'ws')}/ws/live/?page=overview"
    headers = {"Cookie": cookies, "Origin": product.console}
    async with connect(address, additional_headers=headers, max_size=None) as socket:
        await socket.send(json.dumps({"rows": []}))
        async for _message in socket:
            pass
    raise AssertionError("the page's socket was closed")


def _log_in(console: str) -> str:
    jar = CookieJar()
    browser = build_opener(HTTPCookieProcessor(jar))
    browser.open(f"{console}/login/").read()
    token = next(cookie.value for cookie in jar if cookie.name == "barnabas_csrf")
    form = {"username": "admin", "password": PASSWORD, "csrfmiddlewaretoken": token, "next": "/"}
    browser.open(f"{console}/login/", urlencode(form).encode()).read()
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)


def _named_processes(product: Product) -> list[tuple[str, psutil.Process]]:
    """`manage.py up` and all it has started, also what another worker than the present one did."""
    processes: dict[int, tuple[str, psutil.Process]] = {}
    for pid in [product.process.pid, *(item.pid for item in processes_of(product.data))]:
        with suppress(psutil.Error):
            root = psutil.Process(pid)
            for child in [root, *root.children(recursive=True)]:
                processes.setdefault(child.pid, (_name_of(child), child))
    return list(processes.values())


def _name_of(process: psutil.Process) -> str:
    line = " ".join(process.cmdline())
    return next((name for words, name in NAMES if words in line), "others")


def _cpu_by_name(product: Product) -> dict[str, float]:
    """Children that have ended count with their parent."""
    used: dict[str, float] = {}
    for name, process in _named_processes(product):
        with suppress(psutil.Error):
            used[name] = used.get(name, 0.0) + sum(process.cpu_times()[:4])
    return used


def _memory_by_name(product: Product) -> dict[str, tuple[int, float]]:
    """Number of processes and MB."""
    by_name: dict[str, tuple[int, float]] = {}
    for name, process in _named_processes(product):
        with suppress(psutil.Error):
            count, size = by_name.get(name, (0, 0.0))
            by_name[name] = (count + 1, size + process.memory_full_info().pss / 1e6)
    return by_name


def print_table(alone: dict[str, Use], seen: dict[str, Use], seconds: float) -> None:
    print(f"| {seconds:g} s | processes | core, nobody looks | core, a page open | memory (PSS) |")
    print("| --- | --- | --- | --- | --- |")
    for name in sorted(alone, key=lambda name: -alone[name].cpu_seconds):
        _print_line(name, [alone[name]], [seen.get(name, Use(0, 0.0, 0.0))], seconds)
    without = {name for name in alone if not name.startswith(SPARK)}
    for words, names in (("without Spark", without), ("all", set(alone))):
        _print_line(words, [alone[name] for name in names], [seen[name] for name in names if name in seen], seconds)


def _print_line(words: str, alone: list[Use], seen: list[Use], seconds: float) -> None:
    cores = [sum(use.cpu_seconds for use in uses) / seconds for uses in (alone, seen)]
    memory = sum(use.pss_mb for use in alone)
    print(f"| {words} | {sum(use.processes for use in alone)} | {cores[0]:.4f} | {cores[1]:.4f} | {memory:.0f} MB |")


if __name__ == "__main__":
    main()
