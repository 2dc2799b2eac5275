"""Notebook: how a notebook shows a result, and what ``print`` shows of it: its page in brief."""

from functools import singledispatch
from shutil import get_terminal_size

from ragstone.analysis import Calibration
from ragstone.analysis.comparison.comparison_result import Comparisons
from ragstone.analysis.composite_weights.fit_weights import FittedWeights
from ragstone.analysis.release_gate.release_gate import GateResult
from ragstone.analysis.summaries.failure_stages import Failures
from ragstone.analysis.summaries.run_summary import summarise
from ragstone.analysis.summaries.session_figures import Conversations
from ragstone.annotation import LabelAgreement
from ragstone.guard import Assessment, Improvement
from ragstone.guard.gating.calibrating import GateCalibration
from ragstone.guard.gating.gate_check import GateCheck
from ragstone.run import Run

from .brief import brief
from .failing import failing
from .page import Page
from .pages.agreement import agreement_page
from .pages.assessment import assessment_page, improvement_page
from .pages.calibration import calibration_page
from .pages.comparison import comparison_page
from .pages.conversations import conversations_page
from .pages.failures import failures_page
from .pages.gate import gate_page
from .pages.promise import gate_calibration_page, gate_check_page
from .pages.run import run_page
from .pages.weights import weights_page
from .render.html import as_html
from .render.terminal import as_text

WIDTH = 100
"""Of what is printed where there is no terminal."""


def notebook_html(result: object) -> str:
    """The page of a result in brief, as a notebook shows it.

    Args:
        result: A run, a comparison, failures, conversations, a calibration, a gate's result, an
            agreement, fitted weights, an assessment, an improvement, or the calibration or check
            of a gate.
    """
    return as_html(brief(page_of(result)))


def printed(result: object) -> str:
    """The page of a result in brief, as text that fits the terminal."""
    return as_text(brief(page_of(result)), get_terminal_size((WIDTH, 0)).columns).rstrip("\n")


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


@page_of.register
def _(result: GateResult) -> Page:
    return gate_page(result.run, result, failing(result.run, result))


page_of.register(LabelAgreement, agreement_page)
page_of.register(Comparisons, comparison_page)
page_of.register(Failures, failures_page)
page_of.register(Conversations, conversations_page)
page_of.register(Calibration, calibration_page)
page_of.register(FittedWeights, weights_page)
page_of.register(Assessment, assessment_page)
page_of.register(Improvement, improvement_page)
page_of.register(GateCalibration, gate_calibration_page)
page_of.register(GateCheck, gate_check_page)
