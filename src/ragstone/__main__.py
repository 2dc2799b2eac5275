"""``python -m ragstone`` is ``ragstone``."""

from ragstone.cli.app import main

main()
