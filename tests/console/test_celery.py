from django.conf import settings

from console.celery import app
from console.kit.common.host_queue import host_queue


def test_beat_runs_what_the_features_ask_for():
    app.finalize()

    assert "reconcile-processes" in app.conf.beat_schedule


def test_a_task_goes_to_the_queue_of_this_host_and_is_acknowledged_when_done():
    assert app.conf.task_default_queue == host_queue(settings.HOST_NAME)
    assert app.conf.task_acks_late
    assert app.conf.worker_prefetch_multiplier == 1
