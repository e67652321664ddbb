"""One `up` per data directory."""

import pytest

from console.launch.running import ask_to_stop, claim_house
from console.processes.setup import SetupError


def test_second_claim_is_refused_with_what_to_do(tmp_path):
    refused = pytest.raises(SetupError, match=r"It is up already \(pid \d+\).*make down")
    with claim_house(tmp_path), refused, claim_house(tmp_path):
        pass


def test_claim_ends_with_its_holder(tmp_path):
    with claim_house(tmp_path):
        pass
    with claim_house(tmp_path):
        pass


def test_nobody_to_ask_is_no_error(tmp_path):
    assert not ask_to_stop(tmp_path, 1)
