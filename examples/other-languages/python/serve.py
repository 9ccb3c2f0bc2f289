"""uvicorn with a drain delay of its own: not ready from SIGTERM on, serving for DRAIN_DELAY seconds, then uvicorn's own shutdown."""

import os
import signal
import threading

import uvicorn

from app import app

DELAY = float(os.environ.get("DRAIN_DELAY", "2.5"))


class Server(uvicorn.Server):
    def handle_exit(self, sig, frame):
        if app.state.stopping or sig != signal.SIGTERM:
            super().handle_exit(sig, frame)
            return
        app.state.stopping = True
        # uvicorn looks at should_exit ten times a second; a timer thread may set it.
        timer = threading.Timer(DELAY, super().handle_exit, (sig, frame))
        timer.daemon = True
        timer.start()


@app.middleware("http")
async def announce(request, call_next):
    response = await call_next(request)
    if app.state.stopping:
        response.headers["connection"] = "close"
    return response


Server(uvicorn.Config(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")).run()
