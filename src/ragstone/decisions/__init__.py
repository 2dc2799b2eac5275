"""The decisions room: what the numbers of finished runs let one decide.

compare               is one system better than another, question by question
decide_gate           does a run meet its requirements
calibrate             a judge against people, and the numbers they correct
corrected_quantities  the corrected estimates, for whatever decides over them
read_passport         what is known of a judge, read back
"""

from .calibrating.calibrate import Calibration, calibrate, corrected_quantities
from .calibrating.passport import Passport, read_passport
from .comparing.compare import compare
from .comparing.compared import Comparison, Comparisons
from .gating.gate import GateResult, decide_gate

__all__ = [
    "Calibration",
    "Comparison",
    "Comparisons",
    "GateResult",
    "Passport",
    "calibrate",
    "compare",
    "corrected_quantities",
    "decide_gate",
    "read_passport",
]
