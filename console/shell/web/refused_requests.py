"""Refused requests as one line of the log: where a view raised PermissionDenied says nothing that the line does not."""

import logging


class RefusalsInOneLine(logging.Filter):
    """Takes the traceback from records of answers below 500; those of our own faults keep it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True
