from urllib.parse import unquote

import pytest
from django.urls import resolve, reverse

NAMES = ["readers", "team/readers", "..", ".", "", "+reset", "a b", "100%", "größer", "x+y", "a%2Fb", "?q=1#x"]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_a_group_may_have_has_an_address_that_leads_back_to_it(name):
    for page in ("group", "group-reset"):
        address = reverse(page, args=[name])
        result = resolve(unquote(address))

        assert (result.url_name, result.kwargs) == (page, {"group": name})
        assert "/../" not in unquote(address)
