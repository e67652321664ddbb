"""What the header of a process's page is told when the process changes."""

import pytest
from django.conf import settings

from console.processes.announce import push_process
from console.processes.models import ManagedProcess


@pytest.mark.usefixtures("listeners")
def test_state_and_figures_of_the_header_are_pushed_with_the_process(
    db, monkeypatch, django_capture_on_commit_callbacks
):
    sent: list[str] = []
    monkeypatch.setattr("console.kit.live.push.send_now", lambda messages: sent.extend(html for _, html in messages))
    process = ManagedProcess.objects.create(name="broker-1", kind="broker", host=settings.HOST_NAME, state="failed")
    with django_capture_on_commit_callbacks(execute=True):
        push_process(process)
    headers = [html for html in sent if 'id="figures-process-broker-1"' in html]
    assert len(headers) == 2
    assert all('class="state-word critical"' in html for html in headers)
