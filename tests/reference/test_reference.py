"""Generated cases through Barnabas and through Kafka's and Java's classes."""

import pytest

from tests.fetched import NotFetchedError
from tests.reference.comparison import compare, table, text_of
from tests.reference.running import References
from tests.reference.subjects import SUBJECTS

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def references():
    try:
        started = References()
    except NotFetchedError as error:
        pytest.skip(str(error))
    yield started
    started.close()


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_difference_from_the_reference_is_listed_and_occurs(references, name):
    result = compare(SUBJECTS[name], references.of(SUBJECTS[name]), seed=2)
    print(table([result]))
    assert [tuple(map(text_of, difference)) for difference in result.unlisted] == []
    assert result.gone == []
