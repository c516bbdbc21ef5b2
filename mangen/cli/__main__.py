"""`python -m mangen.cli` is `manage.py` without its set-up."""

import sys

from mangen.cli import main

sys.exit(main.main(sys.argv[1:]))
