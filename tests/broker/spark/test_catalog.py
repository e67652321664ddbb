"""Jobs of the package and of an administrator's directory; a user's file runs when its job does, never before."""

import json

import pytest

from broker.cli import stream_jobs, stream_template
from broker.common.errors import StartupError
from broker.spark.catalog import BUILT_IN, find_job, user_job_meaning, user_jobs
from tests.broker.spark.conftest import Row


@pytest.fixture
def jobs(tmp_path):
    directory = tmp_path / "jobs"
    directory.mkdir()
    return directory


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_job_declares_the_topics_it_reads_and_writes(name):
    job = find_job(name, None)
    declared = {key.name for key in job.keys}
    assert job.name == name
    assert job.meaning.endswith(".")
    assert {*job.reads, *job.writes, *([job.files] if job.files else [])} <= declared
    assert all(key.meaning.endswith((".", "$.account is present.")) for key in job.keys)


@pytest.mark.parametrize("name", BUILT_IN)
def test_help_and_form_come_from_the_one_declaration(name, capsys):
    job = find_job(name, None)
    stream_jobs.main([name, "--json"])
    described = json.loads(capsys.readouterr().out)
    assert [parameter["name"] for parameter in described["parameters"]] == [key.name for key in job.keys]
    for described_parameter, key in zip(described["parameters"], job.keys, strict=True):
        assert described_parameter["is_required"] or key.read(described_parameter["default"] or "") == key.default, (
            key.name
        )
    stream_jobs.main([name])
    output = capsys.readouterr().out
    assert all(f"  {key.name}\n" in output for key in job.keys)


@pytest.mark.spark
def test_template_is_a_job_that_runs(jobs, topics, written_by, capsys):
    assert stream_template.main(["shout", "--jobs-dir", str(jobs)]) == 0
    assert user_jobs(jobs) == ["shout"]
    topics.append("calls", [Row("k", "hello"), Row(None, "no")])
    settings = {"input.topic": "calls", "output.topic": "loud", "length.min": "3"}
    assert [(setting.key, setting.value) for setting in written_by("shout", settings, jobs)] == [("k", "HELLO")]
    with pytest.raises(StartupError, match="File exists"):
        stream_template.main(["shout", "--jobs-dir", str(jobs)])
    with pytest.raises(StartupError, match="cannot be a job's name"):
        stream_template.main(["dedupe", "--jobs-dir", str(jobs)])


def test_list_of_jobs_runs_no_file(jobs, capsys):
    (jobs / "trap.py").write_text('"""A trap."""\nraise SystemExit("it was run")\n')
    (jobs / "Not a name.py").write_text("")
    stream_jobs.main(["--jobs-dir", str(jobs)])
    output = capsys.readouterr().out
    assert "trap               A trap." in output
    assert "Not a name" not in output
    assert user_job_meaning("trap", jobs) == "A trap."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "SyntaxError"),
        ("raise ValueError('no')", "ValueError: no"),
        ("build = 5", "no function build"),
        ("def build(r, s): ...\nOUTPUT_MODE = 'complete'", "OUTPUT_MODE one of append, update"),
        ("def build(r, s): ...\nPARAMETERS = ['window']", "PARAMETERS must be Keys"),
    ],
)
def test_file_that_is_no_job_is_refused_in_one_sentence(jobs, text, message):
    (jobs / "mine.py").write_text(text)
    with pytest.raises(StartupError, match=message):
        find_job("mine", jobs)


@pytest.mark.parametrize("name", ["../mine", "no_such_job", "os", ""])
def test_job_that_is_not_there_is_refused_with_those_that_are(jobs, name):
    (jobs / "mine.py").write_text("def build(records, settings): ...")
    with pytest.raises(StartupError, match=r"must be one of windowed_counts.* mine"):
        find_job(name, jobs)
