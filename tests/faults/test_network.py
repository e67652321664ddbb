"""The network of the fault matrix: what it drops, and that nothing of it stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.barnabas_cluster import await_true
from tests.faults.matrix.network import Network, missing_for_network, network

pytestmark = pytest.mark.skipif(bool(missing_for_network()), reason=f"needs {missing_for_network()}")

_WHERE = "/proc/thread-self/ns/net"
#: To a port where nobody listens: refused if the host hears and is heard.
_KNOCK = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], 9), timeout=0.5)
except OSError as error:
    print(type(error).__name__)
"""


def knock(made: Network, at: str, by: str) -> str:
    words = [*made.place(by).enter, sys.executable, "-c", _KNOCK, made.place(at).address]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def test_hosts_that_are_apart_hear_each_other_neither_way_and_again_afterwards():
    with network("one", "other", "third") as made:
        assert knock(made, at="one", by="other") == "ConnectionRefusedError"
        with made.apart("one", "other"):
            assert knock(made, at="one", by="other") == "TimeoutError"
            assert made.lost_on_the_way_to("one") > 0
            assert made.lost_on_the_way_to("other") == 0, "it was sent nothing"
            assert knock(made, at="one", by="third") == "ConnectionRefusedError"
        assert knock(made, at="one", by="other") == "ConnectionRefusedError"


def test_an_answer_to_a_deaf_host_is_lost_and_its_question_is_not():
    with network("deaf", "other") as made, made.deaf("deaf", "other"):
        assert knock(made, at="other", by="deaf") == "TimeoutError"
        assert made.lost_on_the_way_to("deaf") > 0, "what was refused"


def test_a_cable_that_is_out_is_put_in_again():
    with network("one", "other") as made:
        with made.unplugged("one"):
            assert knock(made, at="one", by="other") == "TimeoutError"
        # Neighbours that were not found meanwhile are asked for again a second later.
        await_true(lambda: knock(made, at="one", by="other") == "ConnectionRefusedError", "it is heard again", 10)


def test_nothing_of_a_network_stays_when_what_happened_in_it_is_broken_off():
    here = os.readlink(_WHERE)
    made: list[Path] = []
    with pytest.raises(KeyboardInterrupt):
        break_off_in_a_network(made)
    assert len(made) == 2
    assert not any(item.exists() for item in made)
    assert os.readlink(_WHERE) == here


def break_off_in_a_network(made: list[Path]) -> None:
    here = os.readlink(_WHERE)
    with network("one") as entered:
        made += Path("/run/netns").glob(f"*{entered.token}*")
        assert os.readlink(_WHERE) != here
        raise KeyboardInterrupt
