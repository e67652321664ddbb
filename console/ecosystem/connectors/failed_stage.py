"""Which step of a connector failed, out of a trace: the converter of key or value, a transform, the plugin. Pure.

The stages are Kafka's (`org.apache.kafka.connect.runtime.errors.Stage`).
"""

import re
from dataclasses import dataclass

_SEARCHED_MAX = 20_000
#: Our worker's sentence, then methods of Kafka's `WorkerSinkTask` and sentences of its log.
_BY = re.compile(r"\b(KEY_CONVERTER|VALUE_CONVERTER|HEADER_CONVERTER|TRANSFORMATION|TASK_PUT) by ([\w.$]{1,200})")
_OF_KAFKA = re.compile(r"WorkerSinkTask\.convert(Key|Value)\b|Error converting message (key|value)\b")
_NAMES = {
    "KEY_CONVERTER": ("KEY converter", "key.converter"),
    "VALUE_CONVERTER": ("VALUE converter", "value.converter"),
    "HEADER_CONVERTER": ("header converter", "header.converter"),
    "TRANSFORMATION": ("transform", "transforms"),
    "TASK_PUT": ("connector itself", ""),
}
_LEFT_OUT = "or leave such records out: errors.tolerance=all with errors.deadletterqueue.topic.name"


@dataclass(frozen=True, slots=True)
class FailedStage:
    """`name` in words, the `setting` that chooses its class (empty: none does), and that class, where it is known."""

    name: str
    setting: str
    class_name: str = ""

    @property
    def is_certain_to_fail_again(self) -> bool:
        """Whether the record alone makes it fail, so that a restart meets the same failure."""
        return bool(self.setting)

    @property
    def words(self) -> str:
        return f"{self.name} ({self.class_name})" if self.class_name else self.name

    @property
    def hint(self) -> str:
        """Return what to change before a restart; empty: the stage does not say."""
        if not self.setting:
            return ""
        if self.setting == "transforms":
            return f"Change transforms in its configuration, {_LEFT_OUT}."
        part = self.setting.partition(".")[0]
        return f"Set {self.setting} to the format that the {part}s were written in, {_LEFT_OUT}."


def failed_stage(trace: str) -> FailedStage | None:
    """Return the stage that a task's trace names, or None."""
    searched = trace[:_SEARCHED_MAX]
    if match := _BY.search(searched):
        return FailedStage(*_NAMES[match[1]], class_name=match[2].rpartition(".")[2])
    if match := _OF_KAFKA.search(searched):
        return FailedStage(*_NAMES[f"{match[1] or match[2]}_converter".upper()])
    return None
