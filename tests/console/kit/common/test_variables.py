"""A variable that nothing reads is named at the start, with the one that was meant."""

import io

from console.kit.common.variables import VARIABLES, complaints
from console.shell.launch.management.commands.up import note_unread_variables
from console.shell.launch.progress import LaunchProgress


def test_a_misspelt_variable_is_named_with_the_nearest_known_one():
    assert list(complaints({"BARNABAS_BROKER": "1"})) == ["BARNABAS_BROKER is not read. Did you mean BARNABAS_BROKERS?"]


def test_a_variable_like_no_other_is_named_alone():
    assert list(complaints({"BARNABAS_XYZZY": "1"})) == ["BARNABAS_XYZZY is not read."]


def test_a_variable_of_make_is_named_where_make_did_not_pass_it_on():
    assert list(complaints({"SECURE": "1"})) == ["SECURE is read by make alone. Set BARNABAS_SECURE instead."]
    assert list(complaints({"SECURE": "1", "BARNABAS_SECURE": "1"})) == []


def test_known_variables_and_those_of_other_programs_are_not_named():
    assert list(complaints(dict.fromkeys(VARIABLES, "1"))) == []
    assert list(complaints({"PATH": "/bin", "BARNABAS_CLUSTER": "west", "BARNABAS_RUN_TOKEN": "1"})) == []


def test_up_prints_the_complaints():
    out = io.StringIO()
    note_unread_variables(LaunchProgress(out), {"BARNABAS_SECURD": "1"})
    assert "! BARNABAS_SECURD is not read. Did you mean BARNABAS_SECURE?" in out.getvalue()
