"""Where a provider's claims hold the names of groups."""

import pytest

from console.people.sso.claims import claim, groups_in


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("groups", "a"),
        ("https://example.com/groups", "b"),
        ("realm_access.roles", "c"),
        ("resource_access.my.app.roles", "d"),
        ("resource_access.my.roles", "e"),
        ("resource_access.your.app.roles", None),
        ("resource_access.my.app.", None),
        ("groups.roles", None),
        ("", None),
    ],
)
def test_a_claim_is_found_by_its_path_though_its_names_hold_dots(path, value):
    claims = {
        "groups": "a",
        "https://example.com/groups": "b",
        "realm_access": {"roles": "c"},
        "resource_access": {"my.app": {"roles": "d"}, "my": {"roles": "e", "app": {"other": "f"}}},
    }
    assert claim(claims, path) == value
    assert groups_in(claims, path) == frozenset(filter(None, [value]))
