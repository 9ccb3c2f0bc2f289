"""uvicorn with a drain delay of its own: not ready from SIGTERM on, serving for DRAIN_DELAY, then uvicorn's own shutdown."""

import os
import signal
import threading

import uvicorn

import draining
from app import app


class Server(uvicorn.Server):
    def handle_exit(self, sig, frame):
        if draining.begun() or sig != signal.SIGTERM:
            super().handle_exit(sig, frame)
            return
        draining.begin()
        # uvicorn looks at should_exit ten times a second; a timer thread may set it.
        timer = threading.Timer(draining.delay(), super().handle_exit, (sig, frame))
        timer.daemon = True
        timer.start()


Server(uvicorn.Config(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")).run()
