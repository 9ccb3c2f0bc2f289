"""Whether this service drains: one byte, which gunicorn's master shares with the workers that it forks. And for how long."""

import mmap
import os
import re

_flag = mmap.mmap(-1, 1)


def begin():
    _flag[0] = 1


def begun():
    return _flag[0] == 1


def delay():
    """DRAIN_DELAY in seconds: 2.5, 2.5s, 500ms."""
    number, unit = re.fullmatch(r"([0-9.]+)(ms|s)?", os.environ.get("DRAIN_DELAY", "2.5")).groups()
    return float(number) / (1000 if unit == "ms" else 1)
