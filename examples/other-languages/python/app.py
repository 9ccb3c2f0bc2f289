"""The core routes of examples/orders in FastAPI: GET /work, POST /orders, GET /ready. Orders go into SQLite."""

import asyncio
import os
import sqlite3

from fastapi import FastAPI, Response
from pydantic import BaseModel

import draining

app = FastAPI()
database = sqlite3.connect(os.environ.get("ORDERS_DB", ":memory:"), check_same_thread=False)
database.execute("create table if not exists orders (id text)")


class Order(BaseModel):
    id: str
    work: float = 0.3


@app.middleware("http")
async def announce(request, call_next):
    response = await call_next(request)
    if draining.begun():
        response.headers["connection"] = "close"
    return response


@app.get("/ready")
def ready():
    return Response(status_code=503 if draining.begun() else 200)


@app.get("/work")
async def work(seconds: float = 0.3):
    await asyncio.sleep(seconds)
    return {"pid": os.getpid()}


@app.post("/orders", status_code=201)
async def orders(order: Order):
    await asyncio.sleep(order.work)
    with database:
        database.execute("insert into orders values (?)", (order.id,))
    if "EXECUTED" in os.environ:
        with open(os.environ["EXECUTED"], "a") as file:
            file.write(order.id + "\n")
    return {"id": order.id, "pid": os.getpid()}
