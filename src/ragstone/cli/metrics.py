"""``ragstone metrics [NAME]``: what can be measured, and what each number means."""

from typing import Annotated

import typer

from .output import print_json
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
    from ragstone.report import catalogue, show

    load_own(metrics_from or ())
    if suite:
        suites = [catalogue.named_suite(name)] if name else catalogue.suite_entries()
        print_json(suites) if json else show(catalogue.suite_page(suites))
    elif name:
        one = catalogue.named(name)
        print_json(one) if json else show(catalogue.metric_page(one))
    elif json:
        print_json(catalogue.catalogue())
    else:
        show(catalogue.catalogue_page())
