"""``python -m ragstone`` is ``ragstone``."""

from ragstone.cli import main

main()
