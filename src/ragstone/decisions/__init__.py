"""The decisions room: what the numbers of finished runs let one decide.

compare               is one system better than another, question by question
gate                  does a run meet its requirements
calibrate             a judge against people, and the numbers they correct
corrected_quantities  the corrected estimates, for whatever decides over them
read_passport         what is known of a judge, read back
draw_sample           what people should label, with known chances; of a ``Scored`` run
fit_weights           weights of a composite from opinions that ``read_opinions`` reads
rate_size             rows for a rate
mean_sizes            questions for means, from a pilot run
paired_sizes          questions for differences, from a pilot run
label_size            labels beside a judge
Scored                the scores of a run, metric by metric
"""

from .calibrating.calibrate import Calibration, calibrate, corrected_quantities
from .calibrating.passport import Passport, read_passport
from .comparing.compare import compare
from .comparing.compared import Comparison, Comparisons
from .gating.gate import GateResult, gate
from .planning.label_sizes import label_size
from .planning.sizes import mean_sizes, paired_sizes, rate_size
from .sampling.draw import Sample, draw_sample
from .scored import Scored
from .weighing.opinions import read_opinions
from .weighing.weights import FittedWeights, fit_weights

__all__ = [
    "Calibration",
    "Comparison",
    "Comparisons",
    "FittedWeights",
    "GateResult",
    "Passport",
    "Sample",
    "Scored",
    "calibrate",
    "compare",
    "corrected_quantities",
    "draw_sample",
    "fit_weights",
    "gate",
    "label_size",
    "mean_sizes",
    "paired_sizes",
    "rate_size",
    "read_opinions",
    "read_passport",
]
