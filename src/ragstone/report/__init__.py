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

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
