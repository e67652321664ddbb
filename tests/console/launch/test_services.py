"""The commands of the console's own services."""

from django.conf import settings

from console.launch.services import console_services


def test_the_web_process_is_the_bounded_one_at_the_console_s_port():
    (argv,) = (service.argv for service in console_services() if service.name == "web")
    assert argv[1:] == ["-m", "console.launch.web", str(settings.CONSOLE_PORT)]
