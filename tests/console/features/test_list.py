"""A feature needs its folder and one line; one that is left out of the list leaves no trace, and pages still work."""

import json
import os
import subprocess
import sys
from pathlib import Path

from broker.common.installation import CODE_DIR
from console.features import PACKAGES

DECLARATION = """
from console.kit.features.api import ApiRead
from console.kit.features.declaration import RouteModule, SidebarEntry, Feature, PageLink, PushedPage, Socket
from console.kit.features.hook import Hook
from console.kit.features.table import FeatureTable, columns_of
from console.kit.features.tier import CollectorTier
from console.kit.access.places import PagePlace

TOYS = PagePlace("Toy", "toy", "plaything")

FEATURE = Feature(
    package="toy",
    addresses=(RouteModule("toy/", "toy.urls"),),
    links=(PageLink("Toy", "toy", SidebarEntry.METRICS, after="footprint"),),
    places=(TOYS,),
    pushed_pages=(PushedPage("toy", ("toy",)),),
    reads=(ApiRead("toy", "toy", "What the toy has"),),
    sockets=(Socket("ws/toy/", "toy.parts.ToySocket"),),
    tiers=(CollectorTier("toy", 1.0, "toy.parts.tier"),),
    hooks=(Hook("console.processes.topic_users.USERS", "toy.parts.users_of"),),
    tables=(FeatureTable(TOYS, columns_of("Toy, Weight")),),
    suggested_actions=("wind up toy",),
    secret_actions=("hide toy",),
)
"""
ROUTES = """
from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("", lambda request: HttpResponse("the toy"), name="toy")]
"""
PARTS = """
from console.kit.live.person_socket import PersonSocket
from console.processes.topic_users import TopicUser
from console.state.clusters.store import update_state
from console.state.consumers.tiers import TierLook

class ToySocket(PersonSocket): ...

def tier(context):
    return TierLook(lambda: update_state(topics_error=f"a toy saw {len(context.topics)} topic"))

def users_of(topics):
    return [TopicUser("toy rattle", "", True, reads=topics)]
"""
#: Prints what a console with these features has of everything that is computed from them.
PROGRAM = """
import json, sys
from console import features
features.PACKAGES = tuple(json.loads(sys.argv[1]))
import django
django.setup()
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User, Group
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from console.kit.access.roles import ROLES, Right
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
setup_test_environment()
settings.MIGRATION_MODULES = {app.label: None for app in apps.get_app_configs()}
call_command("migrate", run_syncdb=True, verbosity=0)
person = User.objects.create_user("ada", password="correct-horse-battery")
person.groups.add(Group.objects.get(name="admin"))
from console.state.clusters.models import Topic
Topic.objects.create(name="orders")
client = Client(raise_request_exception=True)
client.force_login(person)
from console.shell.web.page_socket import groups_for
from console.shell.palette.places import PAGES
from console.shell.api.reads import READS
from console.shell.changes.rules import SUGGESTED, _SECRET
from console.shell.collector.collector import Collector
from console.shell.web.routes import websocket_urlpatterns
from console.kit.access.reach import EVERYTHING
from console.kit.tables.declared import TABLES
from console.processes.topic_users import uses_of
from console.state.clusters.queries import cluster_state
from tests.fakes.gateway import FakeGateway
collector = Collector(FakeGateway(1), list)
for name in {"toy"} & collector.tiers.keys():
    collector.look(name)
pages = {address: client.get(address) for address in json.loads(sys.argv[2])}
print(json.dumps({
    "statuses": {address: page.status_code for address, page in pages.items()},
    "metrics": pages["/charts/"].text,
    "groups": {name: groups_for(name, ROLES["admin"]) for name in ("toy", "footprint", "brokers")},
    "palette": [place.route for place in PAGES],
    "reads": [read.path for read in READS],
    "sockets": [str(socket.pattern) for socket in websocket_urlpatterns],
    "tiers": {name: tier.interval_s for name, tier in collector.tiers.items()},
    "seen": cluster_state().topics_error,
    "users": [use.clause for use in uses_of({"orders"}, EVERYTHING).get("orders", ())],
    "hooks": sorted({function for functions in settings.HOOKS.values() for function in functions}),
    "tables": {name: [title for _, title in table.columns] for name, table in TABLES.items()},
    "actions": [*SUGGESTED, *_SECRET],
}))
"""
#: Pages that open without any of the optional features.
PAGES = ("/", "/brokers/", "/topics/", "/topics/orders/", "/consumers/", "/placement/", "/history/", "/charts/")


def console_with(packages, directory: Path, *more: str) -> dict:
    """What a console of a process of its own, with an empty database, has if these are its features."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("BARNABAS_", "CELERY_"))}
    environment |= {"BARNABAS_DATA": str(directory / "data"), "DJANGO_SETTINGS_MODULE": "console.settings"}
    environment |= {"BARNABAS_REDIS_URL": "memory://", "PYTHONPATH": f"{directory}{os.pathsep}{CODE_DIR}"}
    environment |= {"BARNABAS_DATABASE_URL": "sqlite://:memory:"}
    command = [sys.executable, "-c", PROGRAM, json.dumps(list(packages)), json.dumps([*PAGES, *more])]
    done = subprocess.run(command, cwd=CODE_DIR, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_feature_needs_its_folder_and_one_line(tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "__init__.py").write_text("")
    (tmp_path / "toy" / "feature.py").write_text(DECLARATION)
    (tmp_path / "toy" / "urls.py").write_text(ROUTES)
    (tmp_path / "toy" / "parts.py").write_text(PARTS)
    console = console_with([*PACKAGES, "toy"], tmp_path, "/toy/")

    assert set(console["statuses"].values()) == {200}
    assert console["metrics"].index(">Console load</a>") < console["metrics"].index(">Toy</a>")
    assert console["groups"]["toy"] == ["heartbeat", "marks", "toy"]
    assert "toy" in console["palette"]
    assert "toy" in console["reads"]
    assert "ws/toy/" in console["sockets"]
    assert (console["tiers"]["toy"], console["seen"]) == (1.0, "a toy saw 1 topic")
    assert console["users"] == ["toy rattle reads it"]
    assert console["tables"]["toy"] == ["Toy", "Weight"]
    assert {"wind up toy", "hide toy"} <= set(console["actions"])


def test_a_feature_that_is_left_out_leaves_no_trace_and_pages_still_work(tmp_path):
    packages = [package for package in PACKAGES if package != "console.cluster.footprint"]
    console = console_with(packages, tmp_path, "/footprint/")

    assert console["statuses"] == dict.fromkeys(PAGES, 200) | {"/footprint/": 404}
    assert "/footprint/" not in console["metrics"]
    assert console["groups"] == {"toy": None, "footprint": None, "brokers": ["heartbeat", "marks", "brokers"]}
    assert "footprint" not in console["palette"]
    assert "footprint" not in console["reads"]
    assert console["tiers"].keys() >= {"brokers", "topics", "groups"}
    assert "footprint" not in console["tiers"]
    assert [function for function in console["hooks"] if "footprint" in function] == []
    assert (console["users"], console["seen"]) == ([], "")
