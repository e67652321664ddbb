"""The commands of the console's own services."""

import subprocess
import sys

from django.conf import settings

from broker.common.installation import CODE_DIR
from console.kit.common.host_queue import host_queue
from console.processes.setup import read_setup
from console.shell.launch.beat import BeatThread
from console.shell.launch.services import console_services, service_environment
from console.shell.launch.worker import THREADS, make_worker


def test_the_web_process_is_the_bounded_one_at_the_console_s_port():
    (argv,) = (service.argv for service in console_services() if service.name == "web")
    assert argv[-3:] == ["-m", "console.shell.launch.web", str(settings.CONSOLE_PORT)]


def test_services_know_who_the_brokers_are_in_the_embedded_zookeeper(settings):
    """They are told its address as if it were an ensemble from elsewhere, which has no user unless one is named."""
    settings.ZOOKEEPER_DIGEST_FILE = "/data/secrets/zookeeper-digest"
    environment = service_environment(read_setup({}, ""))
    assert environment["BARNABAS_ZOOKEEPER_DIGEST_FILE"] == "/data/secrets/zookeeper-digest"


def test_services_are_told_whole_paths(settings, monkeypatch, tmp_path):
    """They work elsewhere: what is relative for whoever starts them would be another place for them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BARNABAS_DATA", "somewhere")
    monkeypatch.setenv("BARNABAS_LOG_ROOTS", "here,there")
    monkeypatch.setenv("BARNABAS_LDAP_BIND_PASSWORD_FILE", "kept/password")
    settings.DATA_DIR, settings.JOBS_DIR = tmp_path / "somewhere", tmp_path / "jobs"
    settings.LOG_ROOTS = [tmp_path / "here", tmp_path / "there"]
    environment = service_environment(read_setup({}, ""))
    assert environment["BARNABAS_DATA"] == f"{tmp_path}/somewhere"
    assert environment["BARNABAS_LDAP_BIND_PASSWORD_FILE"] == f"{tmp_path}/kept/password"
    assert environment["BARNABAS_JOBS"] == f"{tmp_path}/jobs"
    assert environment["BARNABAS_LOG_ROOTS"] == f"{tmp_path}/here,{tmp_path}/there"


def test_the_worker_has_its_hosts_queue_and_beat(settings):
    worker = make_worker(with_beat=True)
    assert list(worker.app.amqp.queues.consume_from) == [host_queue(settings.HOST_NAME)]
    assert worker.concurrency == THREADS
    for is_given in (True, False):
        steps = make_worker(with_beat=is_given).blueprint.order
        assert any(isinstance(step, BeatThread) and step.enabled for step in steps) == is_given


def test_a_worker_carries_nothing_of_celerys_command_line():
    program = (
        "import sys, console.shell.launch.worker; sys.exit(bool({'prompt_toolkit', 'click_repl'} & sys.modules.keys()))"
    )
    subprocess.run([sys.executable, "-c", program], cwd=CODE_DIR, check=True)
