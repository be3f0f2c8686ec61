"""``python -m dpbounds``: the command line, where its script is not on the path."""

import sys

from dpbounds.cli import main

sys.exit(main())
