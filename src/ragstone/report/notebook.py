"""Notebook: how a notebook shows a result, as its page in HTML."""

from functools import singledispatch

from ragstone.decisions import Calibration
from ragstone.decisions.comparing.compared import Comparisons
from ragstone.decisions.summing_up.summary import summarise
from ragstone.decisions.weighing.weights import FittedWeights
from ragstone.run import Run

from .page import Page
from .pages.calibration import calibration_page
from .pages.comparison import comparison_page
from .pages.run import run_page
from .pages.weights import weights_page
from .render.html import as_html


def notebook_html(result: object) -> str:
    """The page of a result as a notebook shows it.

    Args:
        result: A run, a comparison, a calibration, or fitted weights.
    """
    return as_html(page_of(result))


@singledispatch
def page_of(result: object) -> Page:
    """The page of a result.

    Raises:
        TypeError: There is no page that can be built from this result alone.
    """
    raise TypeError(f"{type(result).__name__} has no page of its own")


@page_of.register
def _(run: Run) -> Page:
    return run_page(run, summarise(run))


page_of.register(Comparisons, comparison_page)
page_of.register(Calibration, calibration_page)
page_of.register(FittedWeights, weights_page)
