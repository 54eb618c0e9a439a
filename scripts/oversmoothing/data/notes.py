"""What a user should know of a text, whether or not he reads the log."""

import logging
import sys
from collections.abc import Iterable

from oversmoothing.printable import printable

logger = logging.getLogger(__name__)


def tell(lines: Iterable[str]) -> None:
    """Log lines, and print them on standard error."""
    for line in lines:
        logger.info(line)
        print(printable(line), file=sys.stderr, flush=True)
