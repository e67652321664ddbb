"""Each new seal as a line of the process's standard output: whoever keeps the logs elsewhere can prove the audit's end.

A seal stands for all rows before it, so what keeps only some of these lines is a witness too.
"""

import json
import logging

from console.kit.audit.chain import ChainEnd

logger = logging.getLogger(__name__)


def testify(end: ChainEnd, at: str) -> None:
    logger.info(json.dumps({"event": "audit seal", "at": at, "count": end.count, "seal": end.seal}))
