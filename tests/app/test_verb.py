"""`dpbounds app`: what it refuses before it starts."""

import socket

from dpbounds.app import verb
from dpbounds.cli import main


def test_a_port_that_is_taken_is_refused(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["app", "--no-browser", "--port", str(taken.getsockname()[1])]) == 2
    assert "--port must be a port that is free" in capsys.readouterr().err


def test_what_is_not_installed_is_named(capsys, monkeypatch):
    monkeypatch.setattr(verb, "find_spec", lambda name: None if name == "uvicorn" else name)
    assert main(["app"]) == 2
    assert capsys.readouterr().err == "dpbounds: app needs uvicorn: pip install 'dpbounds[app]'\n"


def test_only_this_machine_is_listened_to():
    with verb._bound(0) as place:
        assert place.getsockname()[0] == "127.0.0.1"
