# SPDX-License-Identifier: GPL-2.0-only
"""What tests in Python check with, as tests/unit/tap.h for those in C."""

import sys
import threading
import time

PATIENCE = 100        # seconds until a test gives up on something that should happen


def wait_for(condition, what):
    """Waits until the condition holds, and returns its value."""
    end = time.monotonic() + PATIENCE
    nap = 0.01
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(what)
        # To look is most of what an emulated machine does meanwhile.
        time.sleep(nap)
        nap = min(nap * 1.5, 0.2)


class Report:
    """One TAP line for each check, also of threads beside each other."""
    count = failed = 0
    lock = threading.RLock()

    @classmethod
    def say(cls, *lines):
        """Whole lines, whoever else prints."""
        with cls.lock:
            sys.stdout.write("".join(line + "\n" for line in lines))
            sys.stdout.flush()

    @classmethod
    def ok(cls, good, what, *details):
        with cls.lock:
            cls.count += 1
            cls.failed += not good
            cls.say(f"{'' if good else 'not '}ok {cls.count} - {what}", *(f"#   {detail!r}" for detail in (() if good else details)))
        return good

    @classmethod
    def same(cls, value, wanted, what, *details):
        return cls.ok(value == wanted, what, value, wanted, *details)

    @classmethod
    def end(cls):
        print(f"1..{cls.count}")
        return 1 if cls.failed or not cls.count else 0
