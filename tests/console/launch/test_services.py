"""The commands of the console's own services."""

from console.launch.services import console_services, service_environment
from console.processes.setup import read_setup


def web_command() -> list[str]:
    return next(service.argv for service in console_services() if service.name == "web")


def test_no_header_is_believed_before_our_own_layer_has_judged_it():
    """X-Forwarded-For is what the throttle of logins would count by: anybody can write one."""
    assert "--no-proxy-headers" in web_command()


def test_web_listens_on_this_machine_only():
    assert "--host=127.0.0.1" in web_command()


def test_services_know_who_the_brokers_are_in_the_embedded_zookeeper(settings):
    """They are told its address as if it were an ensemble from elsewhere, which has no user unless one is named."""
    settings.ZOOKEEPER_DIGEST_FILE = "/data/secrets/zookeeper-digest"
    environment = service_environment(read_setup({}, ""))
    assert environment["BARNABAS_ZOOKEEPER_DIGEST_FILE"] == "/data/secrets/zookeeper-digest"
