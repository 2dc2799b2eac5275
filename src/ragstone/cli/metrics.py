"""``ragstone metrics [NAME]``: what can be measured, and what each number means."""

from typing import Annotated

import typer

from . import options
from .output import print_page
from .results import load_own


def metrics(
    name: Annotated[
        str | None, typer.Argument(help="Metric to explain; with --suite, a suite.")
    ] = None,
    suite: Annotated[bool, typer.Option("--suite", help="List suites instead of metrics.")] = False,
    metrics_from: options.MetricsFrom = None,
    json: options.Json = False,
) -> None:
    """List the metrics, or explain NAME: its formula, range, parameters and aliases."""
    from ragstone.report.pages import catalogue_page as catalogue
    from ragstone.report.pages.catalogue_page import catalogue_page, metric_page, suite_page

    load_own(metrics_from or ())
    if suite:
        page = suite_page([catalogue.named_suite(name)] if name else catalogue.suite_entries())
    else:
        page = metric_page(catalogue.named(name)) if name else catalogue_page()
    print_page(page, json=json)
