"""Report: shows a run to people, in a terminal, a notebook, a picture or a table.

run_page        what `ragstone evaluate` prints: the answer, then metrics by systems
full_page       what `ragstone show RUN --full` prints: every estimate, the small print
worst_page      what `ragstone show RUN` prints: the worst examples, over all metrics or of one
example_page    what `ragstone show RUN EXAMPLE` prints
ranked          the worst examples over all metrics together, with reasons
worst           the worst examples of each metric
dossier         all that is known of one example
catalogue       every metric and suite, as plain data and as pages (a module)
export_table    scores, estimates, judgements or examples as one table
layouts         a run, or the scores of one answer, as another tool reports them (a package)
as_bytes        a table as CSV, JSONL or Parquet; write_table into a file, format_of its name
…_page          what `ragstone compare`, `gate`, `agreement`, … print (a module each)
picture         the page as SVG
chart_files     the figures of a page as SVG and PNG files (a module)
show, terminal  print any of it, also into a pipe
"""

from .console import picture, show, terminal
from .pages import catalogue_page as catalogue
from .pages.example_page import example_page, worst_page
from .pages.full_run_page import full_page
from .pages.runs_page import run_page
from .run_contents import as_bytes, dossier, export_table, format_of, write_table
from .worst_examples import ranked, worst

__all__ = [
    "as_bytes",
    "catalogue",
    "dossier",
    "example_page",
    "export_table",
    "format_of",
    "full_page",
    "picture",
    "ranked",
    "run_page",
    "show",
    "terminal",
    "worst",
    "worst_page",
    "write_table",
]
