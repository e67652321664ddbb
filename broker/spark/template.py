"""The file a person begins a stream job of their own with: it runs as it is."""

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


def job_template(name: str) -> str:
    return _TEMPLATE.replace("@name@", name)
