"""What holds for every test: none is late, and what needs Opacus is left out where it is not installed."""

from importlib.util import find_spec

from hypothesis import settings

settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")

collect_ignore_glob = [] if find_spec("opacus") else ["dpbounds/opacus/*.py", "tests/opacus/*.py"]
