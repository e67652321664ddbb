"""What each person sees of the processes."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from console.kit.common.clock import now_ms
from console.kit.common.names import DEFAULT_CLUSTER
from console.processes.states import Observed
from console.state.clusters.models import ClusterState, Partition, Topic

PAGES = [("processes", []), ("process", ["demo"]), ("process-log", ["demo"])]


def buttons(html: str) -> list[tuple[str, bool]]:
    """Each button's action and whether it is disabled."""
    matches = re.findall(r"<button[^>]*data-action=\"(\w+)\"[^>]*>", html)
    tags = re.findall(r"<button[^>]*data-action=\"\w+\"[^>]*>", html)
    return list(zip(matches, [" disabled" in tag for tag in tags], strict=True))


@pytest.mark.parametrize("address", ["/processes/", "/processes/demo/"])
def test_states_say_how_old_they_are(viewer, client, make_process, address):
    make_process()
    ClusterState.objects.create(name=DEFAULT_CLUSTER, processes_at_ms=now_ms() - 90_000)
    client.force_login(viewer)
    html = client.get(address).content.decode()
    assert 'data-age-of="processes">90' in html


@pytest.mark.parametrize(("page", "arguments"), PAGES)
@pytest.mark.parametrize(("cast", "status"), [("operator", 200), ("viewer", 200), ("outsider", 403)])
def test_pages_need_the_right_to_view(page, arguments, cast, status, request, client, make_process):
    make_process()
    client.force_login(request.getfixturevalue(cast))
    assert client.get(reverse(page, args=arguments)).status_code == status


def test_running_process_shows_state_sentence_pid_and_memory(viewer, client, make_process):
    make_process(
        observed=Observed.RUNNING,
        state_sentence="since 12:03:04 UTC; all 12 partitions in sync",
        pid=4711,
        memory_bytes=50 * 1024 * 1024,
        cpu_percent=12.0,
        started_at=timezone.now(),
        ports=[9092],
    )
    client.force_login(viewer)
    html = client.get(reverse("processes")).content.decode()
    for text in ("healthy", "since 12:03:04 UTC; all 12 partitions in sync", "4711", "50.0\xa0MB", "12 %", "9092"):
        assert text in html


def test_operator_may_start_what_is_stopped_and_stop_what_runs(operator, client, make_process):
    make_process(name="idle")
    make_process(name="busy", observed=Observed.RUNNING, pid=1, started_at=timezone.now())
    client.force_login(operator)
    idle = client.get(reverse("process", args=["idle"])).content.decode()
    busy = client.get(reverse("process", args=["busy"])).content.decode()
    assert buttons(idle) == [("start", False), ("stop", True), ("restart", True)]
    assert buttons(busy) == [("start", True), ("stop", False), ("restart", False)]
    assert "idle does not run" in idle
    assert "busy is healthy already" in busy


def test_viewer_sees_disabled_buttons_that_say_why(viewer, client, make_process):
    make_process()
    client.force_login(viewer)
    html = client.get(reverse("processes")).content.decode()
    assert buttons(html) == [("start", True), ("stop", True), ("restart", True)]
    assert "This needs the role operator" in html
    assert "hx-post" not in html


def test_log_is_shown_escaped(viewer, client, make_process):
    process = make_process()
    process.log_path.write_text("first\n<script>alert(1)</script>\n")
    client.force_login(viewer)
    html = client.get(reverse("process-log", args=["demo"])).content.decode()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html


def test_log_of_another_host_is_not_read_here(viewer, client, make_process):
    process = make_process(host="elsewhere")
    process.log_path.write_text("a file of the same name on this host\n")
    client.force_login(viewer)
    html = client.get(reverse("process-log", args=["demo"])).content.decode()
    assert "lies on elsewhere" in html
    assert "same name" not in html


def test_question_tells_what_stopping_a_broker_means(operator, client, make_process):
    make_process(name="broker-2", kind="broker")
    topic = Topic.objects.create(name="orders")
    for number in range(4):
        Partition.objects.create(topic=topic, partition=number, leader=2, replicas=[2], isr=[2])
    client.force_login(operator)
    html = client.get(reverse("process-question", args=["broker-2", "stop"])).content.decode()
    assert "4 partitions go offline until broker 2 is back, for no other replica is in sync: orders-0" in html
    assert reverse("process-stop", args=["broker-2"]) in html


def test_nothing_is_asked_of_a_viewer(viewer, client, make_process):
    make_process()
    client.force_login(viewer)
    assert client.get(reverse("process-question", args=["demo", "stop"])).status_code == 403


@pytest.mark.parametrize("address", ["/processes/nobody/", "/processes/nobody/log", "/processes/demo/question/start"])
def test_what_is_not_there_is_not_found(address, operator, client, make_process):
    make_process()
    client.force_login(operator)
    assert client.get(address).status_code == 404
