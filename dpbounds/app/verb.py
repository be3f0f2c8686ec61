"""`dpbounds app`: the calculator in a browser."""

from __future__ import annotations

import socket
from importlib.util import find_spec

import click

from dpbounds.cli.questions.options import unfit
from dpbounds.errors import InvalidValue

_PORT = 8710
_NEEDED = ("starlette", "uvicorn", "jinja2", "latex2mathml", "markdown_it", "mdit_py_plugins", "matplotlib")


@click.command("app", short_help="The calculator in a browser, on this machine.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="Port of the server; 0 for any free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the URL; do not open a browser.")
def command(port: int, no_browser: bool) -> int:
    """Noise, comparisons, plans, the library and evidence as pages, whose addresses hold what was asked.

    It listens on this machine only, sends nothing anywhere, and neither reads nor writes files of yours. Ctrl-C ends
    it.

    Example: dpbounds app --port 8710 --no-browser
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise unfit("app", f"needs {', '.join(missing)}", "pip install 'dpbounds[app]'")

    import uvicorn

    from dpbounds.app.jobs import Jobs, starter
    from dpbounds.app.server import application

    place = _bound(port)
    jobs = Jobs(starter())
    address = f"http://127.0.0.1:{place.getsockname()[1]}/"
    click.echo(f"{address}  (Ctrl-C ends it)")
    if not no_browser:
        import webbrowser

        webbrowser.open(address)
    settings = uvicorn.Config(application(jobs), log_level="warning", access_log=False, server_header=False, ws="none")
    uvicorn.Server(settings).run(sockets=[place])
    return 0


def _bound(port: int) -> socket.socket:
    """Return a socket on the loopback interface."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise InvalidValue("--port", port, "a port that is free", error.strerror or "") from None
