"""A real server and a real Chromium: the one that the system has."""

import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
BUSY = "[data-running], [aria-busy=true]"


@contextmanager
def server():
    """The address of an app that runs as people run it."""
    command = [sys.executable, "-c", "from dpbounds.cli import main; main()", "app", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield re.match(r"(http://127\.0\.0\.1:\d+)/", process.stdout.readline())[1]
        finally:
            process.terminate()
            process.wait(20)


@contextmanager
def browser():
    """A Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


class Watched:
    """A page, and what went wrong on it: requests that leave, answers that fail, errors of its program."""

    def __init__(self, browser, address, **settings):
        self.address, self.wrong = address, []
        self.context = browser.new_context(base_url=address, **settings)
        self.page = self.context.new_page()
        self.context.on("request", self._asked)
        self.context.on("response", self._answered)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("console", self._told)

    def _asked(self, request):
        if not request.url.startswith((self.address + "/", "data:,")):
            self.wrong.append(f"asked {request.url}")

    def _answered(self, response):
        if response.status >= 500 and response.status != 503:
            self.wrong.append(f"{response.status} {response.url}")

    def _told(self, message):
        if message.type == "error" and "status of 4" not in message.text and "status of 503" not in message.text:
            self.wrong.append(f"console: {message.text}")

    def settle(self):
        """Wait until nothing is asked for any more."""
        self.page.wait_for_timeout(50)
        while self.page.locator(BUSY).count():
            self.page.wait_for_timeout(50)

    def open(self, address):
        self.page.goto(address)
        self.settle()
        return self.page

    def close(self):
        self.context.close()
