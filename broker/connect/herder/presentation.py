"""How a form shows the keys that every connector has: groups, places in them, widths and titles, as in Kafka.

A connector's own keys are shown as it declares them: without a group, and in no place, unless it says otherwise.
"""

from dataclasses import replace

from broker.connect.api import ConfigDef
from broker.connect.api.config import Width

_COMMON, _ERRORS, _ONCE = "Common", "Error Handling", "Exactly Once Support"
_S, _M, _L = Width.SHORT, Width.MEDIUM, Width.LONG
#: Group, place in it, width and title.
_SHOWN: dict[str, tuple[str, int, Width, str]] = {
    "name": (_COMMON, 1, _M, "Connector name"),
    "connector.class": (_COMMON, 2, _L, "Connector class"),
    "connector.plugin.version": (_COMMON, 3, _M, "Connector version"),
    "tasks.max": (_COMMON, 4, _S, "Tasks max"),
    "tasks.max.enforce": (_COMMON, 5, _S, "Enforce tasks max"),
    "key.converter": (_COMMON, 6, _S, "Key converter class"),
    "key.converter.plugin.version": (_COMMON, 7, _S, "Key converter version"),
    "value.converter": (_COMMON, 8, _S, "Value converter class"),
    "value.converter.plugin.version": (_COMMON, 9, _S, "Value converter version"),
    "header.converter": (_COMMON, 10, _S, "Header converter class"),
    "header.converter.plugin.version": (_COMMON, 11, _S, "Header converter version"),
    "transforms": ("Transforms", 12, _L, "Transforms"),
    "predicates": ("Predicates", 13, _L, "Predicates"),
    "config.action.reload": (_COMMON, 14, _M, "Reload Action"),
    "errors.retry.timeout": (_ERRORS, 1, _M, "Retry Timeout for Errors"),
    "errors.retry.delay.max.ms": (_ERRORS, 2, _M, "Maximum Delay Between Retries for Errors"),
    "errors.tolerance": (_ERRORS, 3, _S, "Error Tolerance"),
    "errors.log.enable": (_ERRORS, 4, _S, "Log Errors"),
    "errors.log.include.messages": (_ERRORS, 5, _S, "Log Error Details"),
    "topics": (_COMMON, 4, _L, "Topics"),
    "topics.regex": (_COMMON, 4, _L, "Topics regex"),
    "errors.deadletterqueue.topic.name": (_ERRORS, 6, _M, "Dead Letter Queue Topic Name"),
    "errors.deadletterqueue.topic.replication.factor": (_ERRORS, 7, _M, "Dead Letter Queue Topic Replication Factor"),
    "errors.deadletterqueue.context.headers.enable": (_ERRORS, 8, _M, "Enable Error Context Headers"),
    "audit.enable": (_COMMON, 15, _S, "Message audit"),
    "topic.creation.groups": ("Topic Creation", 1, _L, "Topic Creation Groups"),
    "exactly.once.support": (_ONCE, 2, _S, "Exactly once support"),
    "transaction.boundary": (_ONCE, 3, _S, "Transaction Boundary"),
    "transaction.boundary.interval.ms": (_ONCE, 4, _S, "Transaction boundary interval"),
    "offsets.storage.topic": ("offsets.topic", 1, _L, "Offsets topic"),
}


def presented(definition: ConfigDef) -> ConfigDef:
    """Return the definition with what a form shows. Raises KeyError for a key that is in no group."""
    return ConfigDef(
        *(
            replace(key, group=group, order=order, width=width, display_name=title)
            for key in definition.keys.values()
            for group, order, width, title in [_SHOWN[key.name]]
        )
    )
