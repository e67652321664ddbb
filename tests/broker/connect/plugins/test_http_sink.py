import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from broker.connect.api import ConnectError, RetriableError
from broker.connect.plugins.http_sink import HttpSinkConnector, HttpSinkTask, pause_ms
from tests.broker.connect.plugins.runner import SinkContext, sink_record, started


@pytest.fixture
def server():
    """(address, bodies it took, answers it gives next: (status, headers))"""
    taken, answers = [], []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers = answers.pop(0) if answers else (200, {})
            if status == 200 and "poison" in body:
                status = 422
            if status == 200:
                taken.append(body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}/in", taken, answers
    made.shutdown()
    made.server_close()
    thread.join()


def records(*values):
    return [sink_record(offset, value) for offset, value in enumerate(values)]


def test_values_come_in_batches(server):
    url, taken, _ = server
    started(HttpSinkTask(), {"http.api.url": url, "batch.max.records": "2"}, SinkContext()).put(records(1, {"a": 2}, 3))
    assert taken == [[1, {"a": 2}], [3]]


def test_retry_after_is_followed_and_what_was_answered_is_not_sent_again(server):
    url, taken, answers = server
    answers += [(200, {}), (503, {"Retry-After": "7"}), (500, {})]
    context = SinkContext()
    task = started(HttpSinkTask(), {"http.api.url": url, "batch.max.records": "1"}, context)
    batch = records(1, 2)
    for _ in range(2):
        with pytest.raises(RetriableError):
            task.put(batch)
    task.put(batch)
    assert taken == [[1], [2]]
    assert context.timeouts == [7000, 600]


def test_a_poison_record_is_reported_and_the_others_arrive(server):
    url, taken, _ = server
    context = SinkContext()
    started(HttpSinkTask(), {"http.api.url": url}, context).put(records(1, "poison", 3))
    assert taken == [[1], [3]]
    assert [item.offset for item, _ in context.errant] == [1]


def test_records_that_a_transform_gave_one_place_all_arrive_though_the_batch_comes_twice(server):
    url, taken, answers = server
    answers += [(200, {}), (503, {}), (200, {})]
    task = started(HttpSinkTask(), {"http.api.url": url, "batch.max.records": "1"}, SinkContext())
    batch = [sink_record(7, "of one topic"), sink_record(3, "of another")]
    with pytest.raises(RetriableError):
        task.put(batch)
    task.put(batch)
    assert taken == [["of one topic"], ["of another"]]


@pytest.mark.parametrize("status", [301, 401, 404, 405])
def test_an_address_or_login_that_is_wrong_makes_no_dead_letters(server, status):
    url, taken, answers = server
    answers.append((status, {}))
    context = SinkContext()
    with pytest.raises(ConnectError, match=f"answers {status}"):
        started(HttpSinkTask(), {"http.api.url": url}, context).put(records(1, 2))
    assert (taken, context.errant) == ([], [])


def test_who_never_answers_fails_the_task_at_last():
    task = started(HttpSinkTask(), {"http.api.url": "http://127.0.0.1:1/", "max.retries": "0"}, SinkContext())
    with pytest.raises(ConnectError):
        task.put(records(1))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://", "http://u:p@h/", "http://h:x/"])
def test_what_is_no_address_is_refused(url):
    assert {item.name for item in HttpSinkConnector().validate({"http.api.url": url}) if item.errors} == {
        "http.api.url"
    }


def test_retry_after_in_both_spellings():
    assert pause_ms("3", lambda: 0) == 3000
    assert pause_ms("Thu, 01 Jan 1970 00:00:05 GMT", lambda: 0) == 5000
    assert pause_ms("soon", lambda: 0) is None
