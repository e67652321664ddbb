"""`python -m broker stream-template NAME --jobs-dir DIR`: a file to begin a stream job of one's own with."""

import argparse
from pathlib import Path

from broker.common.errors import StartupError
from broker.common.installation import jobs_dir
from broker.spark.catalog import is_job_name

#: It runs as it is.
_TEMPLATE = '''"""@name@: what it is for, in one sentence; the list of jobs shows this line."""

from broker.config.definition import Key, parse_int

#: What a person may set, beside input.topic and output.topic: keys of the properties file, fields of the form.
PARAMETERS = (Key("length.min", parse_int, 1, "Shorter values are left out.", at_least=0),)

#: append: every row is new. update: a row replaces what was written under its key, as a count does.
OUTPUT_MODE = "append"


def build(records, settings):
    """From the stream of the input topic to the rows of the output topic.

    `records` is a Spark DataFrame that never ends, with the columns key, value (bytes), topic, partition, offset and
    timestamp. What is returned has the columns key and value, and perhaps topic and headers. `settings` are the values
    of the parameters, by name.
    """
    from pyspark.sql import functions as f

    text = f.col("value").cast("string")
    return records.where(f.length(text) >= settings["length.min"]).select("key", f.upper(text).alias("value"))
'''


def main(argv: list[str]) -> int:
    """Return 0 when the file was written; raises StartupError when it is there already or cannot be written."""
    parser = argparse.ArgumentParser(prog="broker stream-template", description="Write the beginning of a stream job.")
    parser.add_argument("name", help="lower-case letters, digits and _; the job's name and its file's")
    parser.add_argument("--jobs-dir", type=Path, default=jobs_dir(), metavar="DIR", help="where to (%(default)s)")
    arguments = parser.parse_args(argv)
    if not is_job_name(arguments.name):
        raise StartupError(f"{arguments.name} cannot be a job's name: lower-case letters, digits and _, and not taken.")
    path = arguments.jobs_dir / f"{arguments.name}.py"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x") as file:
            file.write(_TEMPLATE.replace("@name@", arguments.name))
    except OSError as error:
        raise StartupError(f"{path} cannot be written: {error.strerror}.") from error
    print(
        f"{path} is written: its function build is the job. `python -m broker stream-jobs {arguments.name}` reads it."
    )
    return 0
