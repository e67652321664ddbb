"""The first user is made once; the password is known to nobody but the person and a file of mode 600."""

import pytest
from django.contrib.auth import authenticate, get_user_model

from console.shell.launch.first_user import FirstUserCredentials, ensure_first_user, password_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("directories")]


def test_password_is_generated_kept_privately_and_works():
    credentials = ensure_first_user("")
    assert authenticate(username="admin", password=credentials.password).is_superuser
    assert password_file().read_text().strip() == credentials.password
    assert password_file().stat().st_mode & 0o777 == 0o600
    assert len(credentials.password) >= 16


def test_next_start_tells_where_the_password_is_and_shows_it_no_more():
    """A terminal's scroll-back and a supervisor's log keep what is printed."""
    made = ensure_first_user("").password
    again = ensure_first_user("")
    assert again == FirstUserCredentials("admin", f"(in {password_file()})")
    assert made not in again.password
    assert get_user_model().objects.count() == 1


def test_given_password_is_used_and_neither_shown_nor_kept():
    credentials = ensure_first_user("correct horse battery")
    assert credentials == FirstUserCredentials("admin", "(from BARNABAS_ADMIN_PASSWORD)")
    assert authenticate(username="admin", password="correct horse battery")
    assert not password_file().exists()


def test_password_a_person_changed_is_left_alone():
    ensure_first_user("")
    user = get_user_model().objects.get()
    user.set_password("chosen by a person")
    user.save()
    assert ensure_first_user("something else").password == "(the one you chose)"
    assert authenticate(username="admin", password="chosen by a person")
