"""`manage.py up`: bring everything up, stay in the foreground, take everything down again."""

import logging
import os
from argparse import SUPPRESS
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from broker import __version__
from broker.common.extras import missing_part
from console.kit.common.data_directories import make_data_directories
from console.kit.common.up_options import add_options, switched_on
from console.kit.common.variables import complaints
from console.processes.setup import Setup, SetupError, read_setup
from console.shell.launch.first_user import FirstUserCredentials
from console.shell.launch.interrupts import Interrupted, Interrupts
from console.shell.launch.progress import LaunchProgress, progress_of
from console.shell.launch.reloading import reload
from console.shell.launch.running import Claim, claim_data_dir
from console.shell.launch.secure import kcat_file
from console.shell.launch.staying import end, stay, take_over
from console.shell.launch.supervisor import Supervisor
from console.shell.launch.up import Stack, service_run_files, take_down


class Command(BaseCommand):
    help = "Start Redis, the console, ZooKeeper, brokers, registry, Connect worker and stream job; Ctrl-C stops them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        for word in ("--closing", "--reloading"):  # see console/shell/launch/staying.py
            parser.add_argument(word, type=Claim.parse, metavar="CLAIM", help=SUPPRESS)
        add_options(parser)  # console/__main__.py has put them into the environment

    def handle(
        self, *_args: object, closing: Claim | None = None, reloading: Claim | None = None, **_options: object
    ) -> None:
        for quiet in ("console", "kazoo"):  # a page that misses a push is no news here, nor a session that ends
            logging.getLogger(quiet).setLevel(logging.ERROR)
        try:
            if reloading is not None:
                self._reload(reloading)
            else:
                self._open() if closing is None else self._close(closing)
        except SetupError as error:
            raise CommandError(str(error)) from None

    def _open(self) -> None:
        setup = without_uninstalled(read_setup(os.environ, settings.SPARK_MASTER), missing_part("embedded"))
        make_data_directories()
        with claim_data_dir(settings.RUN_DIR) as claim:
            stack = Stack(setup, progress_of(self), Interrupts(), claim)
            stack.interrupts.watch()
            self._run(stack)

    def _run(self, stack: Stack) -> None:
        stack.progress.note(f"Barnabas {__version__}, data in {shorten(settings.DATA_DIR)} (BARNABAS_DATA moves it)")
        stack.progress.note(switches_of(stack.setup))
        note_unread_variables(stack.progress, os.environ)
        try:
            tell(stack.progress, stack.setup, stack.open())
            stack.stay()
        except Interrupted:
            stack.progress.note("stopping (once more Ctrl-C: at once)")
        finally:
            stack.close()

    def _reload(self, claim: Claim) -> None:
        """Take over the running services, start them with the new configuration, and stay again."""
        interrupts, progress = Interrupts(), progress_of(self)
        interrupts.watch()
        supervisor = Supervisor(service_run_files(), dict(os.environ), settings.RUN_DIR)
        take_over(supervisor, settings.RUN_DIR)
        try:
            reload(supervisor, progress, interrupts)
            stay(supervisor.services, settings.RUN_DIR, supervisor.environment, claim)
        except Interrupted:
            progress.note("stopping (once more Ctrl-C: at once)")
        except Exception as error:
            progress.note(f"! The console cannot start again ({type(error).__name__}: {error}): stopping")
        in_order = partial(take_down, supervisor, progress, lambda: interrupts.hurry)
        end(supervisor, settings.RUN_DIR, claim, progress, in_order)

    def _close(self, claim: Claim) -> None:
        """Take over the running services and stop all of them; the lock is released when this process ends."""
        interrupts, progress = Interrupts(1), progress_of(self)
        interrupts.watch()
        supervisor = Supervisor(service_run_files(), {}, settings.RUN_DIR)
        with suppress(OSError, ValueError, TypeError, KeyError):  # then run files tell what there is
            take_over(supervisor, settings.RUN_DIR)
        in_order = partial(take_down, supervisor, progress, lambda: interrupts.hurry)
        end(supervisor, settings.RUN_DIR, claim, progress, in_order)


def without_uninstalled(setup: Setup, missing: str | None) -> Setup:
    """Return the setup without an embedded ZooKeeper that cannot run: a cluster from elsewhere may have none.

    `missing` is the sentence for it. Raise SetupError if brokers are to be started, which need one.
    """
    if missing is None or setup.zookeeper_port is None:
        return setup
    if setup.broker_count or setup.has_mirror:
        raise SetupError(f"BARNABAS_ZOOKEEPER names no ZooKeeper of your own. {missing}")
    return replace(setup, zookeeper_port=None)


def switches_of(setup: Setup) -> str:
    states = {"secure": setup.is_secure, "demo": setup.demo, "mirror": setup.has_mirror, "audit": setup.has_audit}
    return switched_on(states)


def note_unread_variables(progress: LaunchProgress, environment: Mapping[str, str]) -> None:
    """Print a warning for each variable that the user set in vain."""
    for complaint in complaints(environment):
        progress.note(f"! {complaint}")


def tell(progress: LaunchProgress, setup: Setup, credentials: FirstUserCredentials) -> None:
    """Print the address, the credentials and the next steps."""
    first = setup.bootstrap_servers.partition(",")[0]
    progress.note("")
    progress.fact("console", f"http://127.0.0.1:{settings.CONSOLE_PORT}/")
    progress.fact("user, password", f"{credentials.username}   {credentials.password}")
    progress.fact("bootstrap servers", setup.bootstrap_servers)
    secured = f" -F {shorten(kcat_file())}" if setup.is_secure else ""
    progress.fact("try", f"kcat -b {first}{secured} " + ("-C -t host.metrics -o end" if setup.demo else "-L"))
    progress.fact("stop", "Ctrl-C")
    progress.note("")


def shorten(path: Path) -> str:
    """Return the path relative to the working directory, if it is below that."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
