"""Clients written in C run in a process of their own: one that crashes takes its run with it, and no test after it."""

import faulthandler
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def in_own_process(run: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What `run` returns or raises. BrokenProcessPool if its process dies before; where it stood is on stderr."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh, initializer=faulthandler.enable) as pool:
        return pool.submit(run, *args, **kwargs).result()
