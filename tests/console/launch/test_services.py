"""The commands of the console's own services."""

from django.conf import settings

from console.launch.services import console_services, service_environment
from console.processes.setup import read_setup


def test_the_web_process_is_the_bounded_one_at_the_console_s_port():
    (argv,) = (service.argv for service in console_services() if service.name == "web")
    assert argv[1:] == ["-m", "console.launch.web", str(settings.CONSOLE_PORT)]


def test_services_know_who_the_brokers_are_in_the_embedded_zookeeper(settings):
    """They are told its address as if it were an ensemble from elsewhere, which has no user unless one is named."""
    settings.ZOOKEEPER_DIGEST_FILE = "/data/secrets/zookeeper-digest"
    environment = service_environment(read_setup({}, ""))
    assert environment["BARNABAS_ZOOKEEPER_DIGEST_FILE"] == "/data/secrets/zookeeper-digest"
