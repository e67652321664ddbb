"""The beat takes the next step of whatever is open, of every kind, one at a time."""

import pytest
from django.apps import apps
from django.conf import settings

from console.automation.decommission.models import Decommission
from console.automation.rolling_restart.models import RollingRestart
from console.celery import app
from console.kit.common.file_lock import exclusive
from console.kit.operations.tasks import advance_operations
from console.shell.launch.beat import FrugalScheduler

LABELS = [
    *("rolling_restart.rollingrestart", "decommission.decommission", "zookeeper.ensemblechange"),
    *("drill.drill", "staged_moves.stagedmove"),
]


def is_needed(label: str) -> bool:
    app.finalize()
    return FrugalScheduler.only_if[f"advance-{label}"]()


@pytest.fixture
def advanced(monkeypatch, settings, tmp_path) -> list[str]:
    settings.RUN_DIR = tmp_path
    names: list[str] = []
    monkeypatch.setattr(
        "console.automation.decommission.advance.advance", lambda operation: names.append(operation.name)
    )
    return names


def test_every_kind_of_operation_has_its_entry():
    app.finalize()
    kinds = {entry["args"][0] for name, entry in app.conf.beat_schedule.items() if name.startswith("advance-")}
    assert kinds == set(LABELS)


@pytest.mark.parametrize("label", LABELS)
def test_without_an_open_one_nothing_is_done(label, db, settings, tmp_path):
    settings.RUN_DIR = tmp_path
    advance_operations(label)
    assert not is_needed(label)
    assert not apps.get_model(label).objects.exists()


def test_all_open_ones_of_a_kind_take_a_step_the_oldest_first(db, advanced):
    for name, state in (("broker-3", "running"), ("broker-2", "done"), ("broker-1", "paused")):
        Decommission.objects.create(name=name, broker_id=1, state=state)
    RollingRestart.objects.create()
    assert is_needed("decommission.decommission")
    advance_operations("decommission.decommission")
    assert advanced == ["broker-3", "broker-1"]


def test_while_another_worker_is_at_it_nothing_is_done(db, advanced):
    Decommission.objects.create(name="broker-3", broker_id=3)
    with exclusive(settings.RUN_DIR / "locks" / "decommission.decommission.lock", wait=False):
        advance_operations("decommission.decommission")
    assert advanced == []


def test_one_that_fails_holds_up_no_other_and_is_tried_again(db, advanced, monkeypatch):
    def advance(operation):
        if operation.name == "broker-3":
            raise TimeoutError("no broker answered")
        advanced.append(operation.name)

    monkeypatch.setattr("console.automation.decommission.advance.advance", advance)
    for name in ("broker-3", "broker-1"):
        Decommission.objects.create(name=name, broker_id=1, state="running" if name == "broker-3" else "paused")
    advance_operations("decommission.decommission")
    assert advanced == ["broker-1"]
    assert is_needed("decommission.decommission")
