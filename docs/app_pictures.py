"""The pictures of docs/app.md, from the app as it is, in the Chromium of this machine.

Run from the root of the repository: python -m docs.app_pictures
"""

import io
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image

from dpbounds.app.views import VIEWS
from tests.app.browsing import Watched, browser, server

_HOME = Path(__file__).parent
_COLOURS = 48  # enough for pages of text, in a fifth of the bytes
PICTURES = {
    "noise": (("noise", "calibrate"), 1200, 860, "light"),
    "compare": (("compare", "regimes"), 1200, 900, "light"),
    "library": (("library", "statement"), 400, 860, "dark"),
    "plan": (("plan", "plan"), 400, 860, "light"),
}


def main() -> None:
    """Write them."""
    with server() as address, browser() as chromium:
        for name, (key, width, height, scheme) in PICTURES.items():
            size = {"width": width, "height": height}
            watched = Watched(chromium, address, viewport=size, color_scheme=scheme)
            page = watched.open(f"/{'/'.join(key)}?{urlencode(VIEWS[key].example)}")
            if width < 600:
                page.locator("#answer").scroll_into_view_if_needed()
                page.evaluate("document.getElementById('answer').scrollIntoView()")
            page.wait_for_timeout(300)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(_COLOURS)
            picture.save(_HOME / f"app-{name}.png", optimize=True)
            watched.close()


if __name__ == "__main__":
    main()
