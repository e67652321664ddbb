"""What the reference has said before is still what Barnabas says; no Java is needed for that."""

import contextlib

import pytest

from tests.reference.comparison import agree, listed_differences, ours_of, text_of
from tests.reference.recording import recorded
from tests.reference.subjects import SUBJECTS, UNJUDGED


@pytest.fixture(scope="module")
def start_ours():
    """What starts our side of a subject, once for all subjects that share it."""
    started = set()
    with contextlib.ExitStack() as stack:

        def start(subject):
            if subject.processes is not None and subject.processes not in started:
                started.add(subject.processes)
                stack.enter_context(subject.processes.ours())

        yield start


@pytest.mark.parametrize("name", SUBJECTS)
def test_recorded_cases_have_the_references_outcome(name, start_ours):
    cases = recorded(name)
    start_ours(SUBJECTS[name])
    outcomes = [(case, ours_of(SUBJECTS[name], case), kept) for case, kept in cases]
    differing = [(text_of(case), ours) for case, ours, kept in outcomes if not agree(SUBJECTS[name], case, ours, kept)]
    assert len(cases) > 2
    assert differing == []


def test_each_listed_difference_is_of_a_subject_and_has_its_own_id():
    listed = listed_differences()
    assert {difference.subject for difference in listed} <= SUBJECTS.keys() | UNJUDGED.keys()
    assert len({difference.id for difference in listed}) == len(listed)
