"""Writes the table of attributes in docs/traces.md from the names that are read.

python docs/trace_names.py
"""

from pathlib import Path

from ragstone.monitor.traces import FACTS

PAGE = Path(__file__).with_name("traces.md")
BEGIN, END = "<!-- names: python docs/trace_names.py -->\n", "<!-- end of names -->\n"


def table() -> str:
    """One row a fact, with the attributes that say it, the first of them first."""
    rows = ["| what | attributes |\n|---|---|\n"]
    for fact in FACTS:
        names = [f"`{name}`" for name in fact.names]
        names += [f"`{beginning}.N.…`" for beginning in fact.lists]
        rows.append(f"| {fact.says} | {', '.join(names)} |\n")
    return "".join(rows)


def page() -> str:
    """The page with the table as it is now."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
