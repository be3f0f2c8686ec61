"""The app as tests ask it: in process, without a browser."""

import asyncio

import httpx
import pytest

from dpbounds.app import work
from dpbounds.app.jobs import Jobs
from dpbounds.app.server import application


class Inline:
    """Answers a question at once, in this process; or leaves it running for ever."""

    def __init__(self):
        self.asked, self.stopped, self.stuck = [], [], False

    def __call__(self, folder):
        self.asked.append(folder)
        if not self.stuck:
            work.perform(folder)

    def stop(self, folder):
        self.stopped.append(folder)

    def gone(self, folder):
        return not self.stuck

    def close(self):
        pass


@pytest.fixture
def inline():
    return Inline()


class Client:
    """Sends requests to the app object; follows no redirect."""

    def __init__(self, app):
        self._app = app

    def request(self, method, address, **given):
        return asyncio.run(self._sent(method, address, **given))

    async def _sent(self, method, address, **given):
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, address, **given)

    def get(self, address, **given):
        return self.request("GET", address, **given)

    def post(self, address, **given):
        return self.request("POST", address, **given)


@pytest.fixture
def ask(inline):
    jobs = Jobs(inline)
    yield Client(application(jobs))
    jobs.close()
