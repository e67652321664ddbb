"""What the reference has said before is still what Barnabas says; no Java is needed for that."""

import pytest

from tests.reference.comparison import listed_differences, ours_of, text_of
from tests.reference.recording import recorded
from tests.reference.subjects import SUBJECTS


@pytest.mark.parametrize("name", SUBJECTS)
def test_recorded_cases_have_the_references_outcome(name):
    cases = recorded(name)
    differing = [(text_of(case), ours) for case, kept in cases if (ours := ours_of(SUBJECTS[name], case)) != kept]
    assert len(cases) > 2
    assert differing == []


def test_each_listed_difference_is_of_a_subject_and_has_its_own_id():
    listed = listed_differences()
    assert {difference.subject for difference in listed} <= SUBJECTS.keys()
    assert len({difference.id for difference in listed}) == len(listed)
