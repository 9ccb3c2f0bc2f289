"""A drain delay for gunicorn (-c gunicorn_drains.py): its master waits for DRAIN_DELAY before it acts on SIGTERM, and its workers answer meanwhile."""

import os
import signal
import threading

import draining


def when_ready(server):
    stop = server.handle_term

    def wait_first(*args):
        if draining.begun():
            return stop(*args)
        draining.begin()
        threading.Timer(draining.delay(), os.kill, (os.getpid(), signal.SIGTERM)).start()

    server.handle_term = wait_first
