"""``ragstone metrics [NAME]``: what can be measured, and what each number means."""

from typing import Annotated

import typer

from .output import print_page
from .results import MetricsFrom, load_own


def metrics(
    name: Annotated[
        str | None, typer.Argument(help="A metric, or with --suite a suite, to see in full.")
    ] = None,
    suite: Annotated[bool, typer.Option("--suite", help="The suites instead.")] = False,
    metrics_from: MetricsFrom = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the metrics, or explain NAME: its formula, range, parameters, aliases."""
    from ragstone.report import catalogue
    from ragstone.report.pages.catalogue import catalogue_page, metric_page, suite_page

    load_own(metrics_from or ())
    if suite:
        page = suite_page([catalogue.named_suite(name)] if name else catalogue.suite_entries())
    else:
        page = metric_page(catalogue.named(name)) if name else catalogue_page()
    print_page(page, json=json)
