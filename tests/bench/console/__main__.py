"""`python -m tests.bench.console`: the console before a cluster of 10,000 topics and 200 browsers, measured.

Prints a table of what the issue of the console asks for: the first page of each list, a round of the collector, how
soon a change is seen, what 200 browsers cost, and the memory of all services.
"""

import argparse
import asyncio
import itertools
import json
import re
import statistics
import tempfile
import time
from pathlib import Path
from urllib.request import OpenerDirector

import psutil
from websockets.asyncio.client import connect

from tests.bench.console.cluster import CLOCK_TOPIC, PARTITIONS_PER_TOPIC, TOPICS
from tests.bench.console.first_paint import print_first_paint
from tests.bench.console.groups import GROUPS
from tests.bench.console.house import House, running_house

PAGES = {
    "overview": "/",
    "topics": "/topics/",
    "topics, searched": "/topics/?search=topic-07",
    "topics, by rate": "/topics/?sort=-rate",
    "topics, by lag": "/topics/?sort=-lag",
    "consumers": "/consumers/",
    "consumers, in trouble": "/consumers/?bad=on",
    "consumers, by lag": "/consumers/?sort=-lag",
    "one group": "/consumers/group-00020/",
    "placement": "/placement/",
    "brokers": "/brokers/",
    "one topic": "/topics/topic-00020/",
}
_BOUND_MS = 300
#: What the collector pauses between two looks.
INTERVALS_SECONDS = {"topics": 1.5, "groups": 2.0}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.console", description=__doc__.splitlines()[0])
    parser.add_argument("--browsers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20, help="how long each thing is watched")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, running_house(Path(directory)) as house:
        print(f"{TOPICS:,} topics, {TOPICS * PARTITIONS_PER_TOPIC:,} partitions, {GROUPS:,} groups\n")
        browser = house.log_in()
        for name, path in PAGES.items():
            _print_page(name, _page_times(browser, house.address + path))
        print_first_paint(house, browser.cookies)
        asyncio.run(_watch_rounds(house, browser.cookies, arguments.seconds, "in its first minute"))
        with browser.open(house.address + "/topics/") as answer:
            rows = sorted(set(re.findall(r"topic-row-\d+", answer.read().decode())))
        asyncio.run(_watch_pages(house, browser.cookies, rows, arguments.browsers, arguments.seconds))
        asyncio.run(_watch_rounds(house, browser.cookies, arguments.seconds, "after that"))
        _print_memory(house)


def _page_times(browser: OpenerDirector, address: str, times: int = 15) -> list[float]:
    """Milliseconds, with what the network of one machine adds."""
    times_ms = []
    for _ in range(times):
        began = time.perf_counter()
        with browser.open(address) as answer:
            assert b'id="connection"' in answer.read(), f"{address} is not a page of the console"
        times_ms.append(1_000 * (time.perf_counter() - began))
    return times_ms


def _print_page(name: str, times: list[float]) -> None:
    print(f"page: {name:22} median {statistics.median(times):6.0f} ms   slowest {max(times):6.0f} ms   (< {_BOUND_MS})")


async def _watch_rounds(house: House, cookies: str, seconds: float, when: str) -> None:
    """With a page open: while nobody looks the collector pauses longer. What it has just begun to look at it does not
    know the pace of, and no group may rest."""
    headers = {"Cookie": cookies, "Origin": house.address}
    async with connect(f"ws://127.0.0.1:{house.port}/ws/live/?page=other", additional_headers=headers, max_size=None):
        await asyncio.to_thread(_print_rounds, house, seconds, when)


def _print_rounds(house: House, seconds: float, when: str) -> None:
    """A round is what lies between two looks, without the pause between them."""
    ends: dict[str, list[int]] = {tier: [] for tier in INTERVALS_SECONDS}
    collector = house.processes()["collector"][0]
    used, began = _cpu_seconds(collector), time.monotonic()
    while time.monotonic() - began < seconds:
        for tier, seen in ends.items():
            at_ms = house.state(f"{tier}_at_ms")
            if not seen or at_ms != seen[-1]:
                seen.append(at_ms)
        time.sleep(0.02)
    share = 100 * (_cpu_seconds(collector) - used) / (time.monotonic() - began)
    for tier, seen in ends.items():
        rounds = [(b - a) / 1_000 - INTERVALS_SECONDS[tier] for a, b in itertools.pairwise(seen)]
        summary = f"median {statistics.median(rounds):6.2f} s   slowest {max(rounds):6.2f} s" if rounds else "none came"
        print(f"collector: a round of {tier:7} {summary}   (< 5)")
    looks = max(1, len(ends["topics"]) - 1)
    entry = (_cpu_seconds(collector) - used) / looks
    print(f"collector: takes {share:.0f} % of a core {when} (< 30), {entry:.2f} s of CPU for each look at the topics")


async def _watch_pages(house: House, cookies: str, rows: list[str], count: int, seconds: float) -> None:
    """`count` browsers look at the first page of the topics; the first topic there tells the time of each look."""
    address = f"ws://127.0.0.1:{house.port}/ws/live/?page=topics"
    headers = {"Cookie": cookies, "Origin": house.address}
    sockets = [await connect(address, additional_headers=headers, max_size=None) for _ in range(count)]
    for socket in sockets:
        await socket.send(json.dumps({"rows": rows}))
    web = house.processes()["web"][0]
    delays: list[float] = []
    received = [0]
    before, began = _cpu_seconds(web), time.monotonic()
    readers = [asyncio.create_task(_read(socket, delays, received)) for socket in sockets]
    await asyncio.sleep(seconds)
    used, passed = _cpu_seconds(web) - before, time.monotonic() - began
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    await asyncio.gather(*(socket.close() for socket in sockets))
    share, rate = 100 * used / passed, received[0] / passed
    print(f"{count} browsers: web takes {share:.0f} % of a core (< 50), {rate:.0f} messages/s")
    shown = f"median {statistics.median(delays):.2f} s, slowest {max(delays):.2f} s" if delays else "never"
    print(f"seen after the look: {shown}; a look comes every {INTERVALS_SECONDS['topics']} s and a round (< 2)")


_CLOCK = re.compile(rf'title="{CLOCK_TOPIC}".*?data-cell="records">([\d\s\u202f\u00a0,]+)<', re.S)


async def _read(socket, delays: list[float], received: list[int]) -> None:
    async for message in socket:
        received[0] += 1
        clock = _CLOCK.search(message)
        if clock:
            looked_at_ms = int(re.sub(r"\D", "", clock[1]))
            delays.append(time.time() - looked_at_ms / 1_000)


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _print_memory(house: House) -> None:
    """Proportional: what processes share counts once."""
    sizes = {
        name: sum(item.memory_full_info().pss for item in those) / 1e6
        for name, those in house.processes().items()
        if name != "redis"
    }
    listed = ", ".join(f"{name} {size:.0f}" for name, size in sorted(sizes.items()))
    print(f"memory: {sum(sizes.values()):.0f} MB (< 500): {listed}")


if __name__ == "__main__":
    main()
