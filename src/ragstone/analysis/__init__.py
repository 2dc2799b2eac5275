"""Decisions: what can be decided from the numbers of finished runs.

compare               is one system better than another, by paired questions
conversations         worst turn, mean and share resolved of whole sessions
failures              which answers look bad, and at which stage of the pipeline they went wrong
gate                  does a run meet its requirements
calibrate             check a judge against people, and correct its numbers
corrected_quantities  the corrected estimates, as input of other decisions
read_passport         read the record of a judge that was checked
annotate              make a queue of examples for people to label on screen
draw_sample           draw examples for people to label, with known probabilities
fit_weights           fit a composite's weights to opinions from ``read_opinions``
rate_size             rows for a rate
mean_sizes            questions for means, from a pilot run
paired_sizes          questions for differences, from a pilot run
label_size            labels needed to correct a judge
Scored                the scores of a run, metric by metric
"""

from .calibration.calibrate import Calibration, calibrate, corrected_quantities
from .calibration.judge_identity import Passport, read_passport
from .comparison.compare import compare
from .comparison.comparison_result import Comparison, Comparisons
from .composite_weights.fit_weights import FittedWeights, fit_weights
from .composite_weights.preferences import read_opinions
from .label_sampling.draw_sample import Sample, draw_sample
from .label_sampling.make_queue import annotate
from .release_gate.release_gate import GateResult, gate
from .sample_sizes.label_sizes import label_size
from .sample_sizes.question_sizes import mean_sizes, paired_sizes, rate_size
from .scored_run import Scored
from .summaries.failure_stages import Failures, failures
from .summaries.session_figures import Conversations, conversations

__all__ = [
    "Calibration",
    "Comparison",
    "Comparisons",
    "Conversations",
    "Failures",
    "FittedWeights",
    "GateResult",
    "Passport",
    "Sample",
    "Scored",
    "annotate",
    "calibrate",
    "compare",
    "conversations",
    "corrected_quantities",
    "draw_sample",
    "failures",
    "fit_weights",
    "gate",
    "label_size",
    "mean_sizes",
    "paired_sizes",
    "rate_size",
    "read_opinions",
    "read_passport",
]
