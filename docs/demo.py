"""Write docs/demo.md: what was planted in the demo's answers, and what Ragstone found of it.

python docs/demo.py
"""

from collections.abc import Iterator
from pathlib import Path

import ragstone
from ragstone.analysis.summaries.failure_stages import stages
from ragstone.data.demo import demo_records

PAGE = Path(__file__).with_suffix(".md")
# By what was planted: the metric of which 1 shows it. The other faults are stages of failure.
SHOWN_BY = {
    "contradicted_claim": "unsupported_claim",
    "unsupported_claim": "unsupported_claim",
    "fabricated_citation": "citation_fabrication",
}
HEAD = """# The demo: what was planted, what was found

`ragstone demo` evaluates 90 answers of three systems to 30 questions about Cornwall, and 30 of a
second version of `basic_search`. The passages state public facts in our own words; the faults of
the answers were planted on purpose, and the labels of `annotator-1` and `annotator-2` were written
by Ragstone's authors. Of {planted} planted faults of the first version the local judge, by strings
alone, finds {found}. `python docs/demo.py` writes this page.

```sh
ragstone demo
```

| answer | planted | found |
|---|---|---|
"""


def page() -> str:
    """The page, from an evaluation made now."""
    rows = list(lines())
    found = sum(not row.endswith("| no |") for row in rows)
    return HEAD.format(planted=len(rows), found=found) + "\n".join(rows) + "\n"


def lines() -> Iterator[str]:
    """A row of the table for each answer with a planted fault."""
    records = list(demo_records())
    run = ragstone.evaluate(records, judge="local:strings")
    stage_of = dict(stages(run).select("example_id", "stage").iter_rows())
    scores = run.scores([*SHOWN_BY.values()]).select("example_id", "metric", "value")
    value_of = {(example, metric): value for example, metric, value in scores.iter_rows()}
    for record in records:
        if "meta" in record:
            fault, _, what = record["meta"]["planted"].partition(": ")
            metric, stage = SHOWN_BY.get(fault), stage_of[record["id"]]
            found = "no" if stage != fault else f"stage `{stage}`"
            if metric is not None:
                found = f"`{metric}` is 1" if value_of[record["id"], metric] == 1 else "no"
            yield f"| `{record['id']}` | {fault.replace('_', ' ')}: {what} | {found} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
