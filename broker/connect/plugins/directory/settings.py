"""What the connector over a directory is told."""

from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConfigType, Importance
from broker.connect.api.config import OneOf, between, not_empty
from broker.connect.plugins.paths import is_writable_path

DIRECTORY = "directory"
#: Separators that a trimmed value cannot say.
SEPARATORS = {"tab": "\t", "space": " "}
_RECORD_BYTES_MAX = 64 * 1024 * 1024
_FORMATS = OneOf("lines", "csv", "json", "file")
_MARKS = OneOf("rename", "move", "delete")


def _is_separator(name: str, value: str) -> None:
    if value not in SEPARATORS and (len(value) != 1 or value in '"\r\n'):
        raise ConfigError(
            name, f"Invalid value {value} for configuration {name}: one character, no quote; or tab, or space"
        )


CONFIG = ConfigDef(
    ConfigKey(
        DIRECTORY,
        importance=Importance.HIGH,
        documentation="Where files are put. Those below its directories are not read.",
        validator=is_writable_path,
    ),
    ConfigKey("topic", importance=Importance.HIGH, documentation="Where records go.", validator=not_empty),
    ConfigKey(
        "pattern",
        default="*",
        documentation="Names of files, with *, ? and [a-z]. Those that begin with a point, or end with `.done` or "
        "`.failed`, are never read.",
        validator=not_empty,
    ),
    ConfigKey(
        "format",
        default="lines",
        documentation="What a record is. lines: a line, as text. csv: a row, as a struct of the columns that the first "
        "row names. json: a line, as JSON without a schema. file: a whole file, as bytes; an empty one is none.",
        validator=_FORMATS,
        recommender=_FORMATS,
    ),
    ConfigKey(
        "csv.separator",
        default=",",
        importance=Importance.LOW,
        documentation="Between two columns: a character, or the words tab and space.",
        validator=_is_separator,
    ),
    ConfigKey(
        "done",
        default="rename",
        documentation="What becomes of a file whose records have arrived. rename: its name gets `.done` at its end. "
        "move: it goes to done.directory. delete: it is deleted. A file of the same name is never written over.",
        validator=_MARKS,
        recommender=_MARKS,
    ),
    ConfigKey(
        "done.directory",
        default=None,
        documentation="With done=move: a directory of the same file system.",
        validator=is_writable_path,
    ),
    ConfigKey(
        "file.rest.ms",
        ConfigType.LONG,
        5_000,
        documentation="How long a file must be unchanged, by its date, before it is begun, its last line "
        "taken without an end, and it is marked. A slow writer should write elsewhere and rename.",
        validator=between(0),
    ),
    ConfigKey(
        "max.record.bytes",
        ConfigType.INT,
        1_000_000,
        Importance.LOW,
        "A longer line, row or file cannot be read.",
        between(1, _RECORD_BYTES_MAX),
    ),
    ConfigKey("batch.size", ConfigType.INT, 2_000, Importance.LOW, "Records of a poll at most.", between(1, 100_000)),
)
