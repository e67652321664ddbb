"""The commands of the console's own services."""

import pytest

from console.launch.services import console_services


def web_command() -> list[str]:
    return next(service.argv for service in console_services() if service.name == "web")


@pytest.mark.parametrize("is_behind_proxy", [False, True])
def test_who_asks_is_taken_from_a_header_only_behind_a_proxy(settings, is_behind_proxy):
    """X-Forwarded-For is what the throttle of logins would count by: anybody can write one."""
    settings.SECURE = is_behind_proxy
    assert ("--no-proxy-headers" in web_command()) is not is_behind_proxy


def test_web_listens_on_this_machine_only():
    assert "--host=127.0.0.1" in web_command()
