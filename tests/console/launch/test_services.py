"""The commands of the console's own services."""

from console.launch.services import console_services


def web_command() -> list[str]:
    return next(service.argv for service in console_services() if service.name == "web")


def test_no_header_is_believed_before_our_own_layer_has_judged_it():
    """X-Forwarded-For is what the throttle of logins would count by: anybody can write one."""
    assert "--no-proxy-headers" in web_command()


def test_web_listens_on_this_machine_only():
    assert "--host=127.0.0.1" in web_command()
