"""Parts: what several pages show, each with the macros that draw it."""
