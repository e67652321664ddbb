"""The login form's way to the directory: a backend of Django, asked after our own accounts.

A name that an account of our own has is not asked there: its password, mistyped, is nobody else's to see.
"""

import logging
import threading
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest

from console.kit.common.owned_files import FileError
from console.people.directory.client import AwayError
from console.people.directory.configuration import DirectorySettings
from console.people.sso.accounts import admit
from console.people.sso.errors import LoginRefusedError
from console.people.sso.group_rules import GroupRulesError, TooManyRulesError

logger = logging.getLogger(__name__)
AWAY = "The directory does not answer, so logins by it fail. An administrator finds the reason in the log."
WRONG = "The directory cannot be used: its settings here are wrong, and the log says where."
TOO_MANY = "Your groups give more rules together than the console keeps. Tell an administrator."
#: Logins that ask at one time: a directory that hangs must not hold more threads.
_asking = threading.BoundedSemaphore(8)


class DirectoryBackend(ModelBackend):
    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_named: Any
    ) -> User | None:
        directory = settings.DIRECTORY
        if directory is None or not username or not password or User.objects.filter(username__iexact=username).exists():
            return None
        try:
            return _admitted(directory, username, password)
        except LoginRefusedError as error:
            problem, sentence = str(error), error.sentence
        except AwayError as error:
            problem, sentence = str(error), AWAY
        except (FileError, GroupRulesError) as error:
            problem, sentence = str(error), WRONG
        except TooManyRulesError:
            problem, sentence = "the groups give too many rules", TOO_MANY
        logger.warning("directory: %s", problem[:300].encode("unicode_escape").decode())
        if request is not None:
            request.login_problem = sentence  # type: ignore[attr-defined]  # for the login page
        return None


def _admitted(directory: DirectorySettings, name: str, password: str) -> User | None:
    from console.people.directory.people import person_in

    if not _asking.acquire(blocking=False):
        raise AwayError("too many logins wait for it")
    try:
        person = person_in(directory, name, password)
    finally:
        _asking.release()
    return None if person is None else admit(person, directory.rules.grant_of(person.groups), directory)
