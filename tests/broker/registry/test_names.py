import pytest

from broker.registry.errors import RegistryError
from broker.registry.names import check_subject, context_of, qualified, split, within


def test_the_default_context_is_left_out():
    assert qualified(":.:orders") == "orders"
    assert qualified(":.eu:orders") == ":.eu:orders"
    assert split("orders") == (".", "orders")
    assert context_of(":.eu:orders") == ".eu"


def test_a_subject_that_names_no_context_is_of_the_one_it_is_named_in():
    assert within(".eu", "orders") == ":.eu:orders"
    assert within(".eu", ":.us:orders") == ":.us:orders"
    assert within(".eu", ":.:orders") == "orders"


@pytest.mark.parametrize("name", ["", ":.eu:", "__GLOBAL", "a\nb", "x" * 1_001])
def test_what_can_be_no_subject_is_refused(name):
    with pytest.raises(RegistryError) as refused:
        check_subject(name)
    assert refused.value.code == 42208
