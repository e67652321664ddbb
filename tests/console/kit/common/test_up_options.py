"""The options of `up` are the variables of the same name, and win over them."""

import pytest

from console.kit.common.up_options import SWITCHES, environment_of, switched_on, variable
from console.kit.common.variables import VARIABLES
from console.processes.setup import read_setup


def test_each_option_is_a_variable_that_the_reference_lists():
    assert {variable(name) for name in (*SWITCHES, "brokers", "data", "documents")} <= VARIABLES.keys()


def test_switches_are_turned_on_and_off():
    words = ["--secure", "--no-demo", "--mirror", "--brokers", "1"]
    assert environment_of(words) == {
        "BARNABAS_SECURE": "1", "BARNABAS_DEMO": "0", "BARNABAS_MIRROR": "1", "BARNABAS_BROKERS": "1",
    }  # fmt: skip


def test_without_options_nothing_is_set_and_other_words_are_left_alone():
    assert environment_of(["--closing", "12:34", "--verbosity", "2"]) == {}


def test_documents_with_spaces_in_their_names_arrive_as_they_are(tmp_path):
    paths = tmp_path / "my notes.txt", tmp_path / "b.txt"
    for path in paths:
        path.touch()
    assert read_setup(environment_of(["--documents", *map(str, paths)]), "").documents == paths


def test_a_number_of_brokers_that_is_none_ends_with_a_sentence(capsys):
    with pytest.raises(SystemExit):
        environment_of(["--brokers", "many"])
    assert "argument --brokers: invalid int value: 'many'" in capsys.readouterr().err


def test_what_is_on_is_said_with_the_options_for_the_rest():
    states = {"secure": False, "demo": True, "mirror": False, "audit": True}
    assert switched_on(states) == "on: demo, audit · off: --secure, --mirror"
    assert switched_on(dict.fromkeys(SWITCHES, True)) == "on: secure, demo, mirror, audit"
