"""One reign of chaos over a whole product, and how long afterwards the truths took to agree."""

import random
import time
from dataclasses import dataclass, field
from pathlib import Path

from console.processes.restarts import LONGEST_DELAY_S
from tests.browser.conftest import Product, await_up, start_product, stop_product
from tests.chaos.faults import Chaos
from tests.chaos.operator import Operator
from tests.chaos.truth import Truth, look, processes_of

#: What the console promises at worst: a process that died again and again is started after its longest delay.
AGREES_WITHIN_S = LONGEST_DELAY_S + 30.0
#: Before chaos begins everything has to be there; Spark takes its time.
READY_S = 90.0
POLL_S = 0.5


@dataclass
class ChaosRun:
    """`agreed_s` is how long after the last fault each process agreed; None: it never did."""

    seed: int
    faults: list[str] = field(default_factory=list)
    agreed_s: dict[str, float | None] = field(default_factory=dict)
    truth: Truth = field(default_factory=Truth)
    left_behind: list[str] = field(default_factory=list)

    @property
    def violations(self) -> list[str]:
        late = [name for name, at_s in self.agreed_s.items() if at_s is None]
        messages = [f"{name} did not agree within {AGREES_WITHIN_S:g} s: {self.truth.of(name)}" for name in late]
        return [*messages, *(f"left behind: {item}" for item in self.left_behind)]

    def __str__(self) -> str:
        lines = [f"seed {self.seed}, {len(self.faults)} faults"]
        for name, at_s in self.agreed_s.items():
            hits = sum(f" {name} (" in fault for fault in self.faults)
            agreed = "NEVER AGREED" if at_s is None else f"agreed after {at_s:4.1f} s"
            lines.append(f"  {name:<16} hit {hits:>3} times   {agreed}")
        return "\n".join([*lines, *(self.violations or ["desired = observed = real, no orphan, no double"])])


def run_chaos(directory: Path, seconds: float, seed: int) -> ChaosRun:
    """In `directory`, which gets a data directory of its own; nothing of it runs afterwards."""
    run, product = ChaosRun(seed), start_product(directory)
    try:
        await_up(product)
        _await_agreement(product, READY_S)
        rng = random.Random(seed)
        chaos = Chaos(product.data, Operator(product.console, rng), rng, run.faults)
        chaos.reign(seconds)
        _measure(run, product)
    finally:
        stop_product(product)
    run.left_behind = _left_behind(product)
    return run


def _await_agreement(product: Product, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not (truth := look(product.data, product.bootstrap_servers)).agrees:
        if time.monotonic() > deadline:
            raise AssertionError("not well before chaos began:\n" + "\n".join(truth.differences()))
        time.sleep(POLL_S)


def _measure(run: ChaosRun, product: Product) -> None:
    """Each process has agreed when it does so from some moment on until all do."""
    began = time.monotonic()
    while True:
        run.truth = look(product.data, product.bootstrap_servers)
        at_s = time.monotonic() - began
        for name, faults in run.truth.faults.items():
            before = run.agreed_s.get(name)
            run.agreed_s[name] = None if faults else (before if before is not None else at_s)
        if run.truth.agrees or at_s > AGREES_WITHIN_S:
            return
        time.sleep(POLL_S)


def _left_behind(product: Product) -> list[str]:
    return [f"{item.pid} {item.words[:100]}" for item in processes_of(product.data)]
