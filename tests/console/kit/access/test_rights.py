import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command

from console.kit.access.rights import ROLES, Right, has_right, require


def test_every_role_exists_as_a_group(db):
    assert set(Group.objects.values_list("name", flat=True)) == set(ROLES)


@pytest.mark.django_db(transaction=True)
def test_a_database_that_was_emptied_has_its_roles():
    call_command("flush", interactive=False)

    assert set(Group.objects.values_list("name", flat=True)) == set(ROLES)


def test_roles_give_their_rights(viewer, reader, operator, administrator, outsider):
    held = {
        user.username: [right for right in Right if has_right(user, right)]
        for user in (viewer, reader, operator, administrator, outsider, AnonymousUser())
    }

    assert held == {
        "viewer": [Right.VIEW],
        "reader": [Right.VIEW, Right.RECORDS],
        "operator": [Right.VIEW, Right.RECORDS, Right.OPERATE],
        "administrator": list(Right),
        "outsider": [],
        "": [],
    }


def test_superuser_holds_every_right(db):
    assert has_right(User.objects.create_superuser("root"), Right.ADMINISTER)


def test_switched_off_account_holds_none(operator):
    operator.is_active = False

    assert not has_right(operator, Right.VIEW)


def test_require_says_which_role_is_missing(viewer):
    require(viewer, Right.VIEW)
    with pytest.raises(PermissionDenied, match="operator"):
        require(viewer, Right.OPERATE)
