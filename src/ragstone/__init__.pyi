from . import guard as guard
from . import monitor as monitor
from .analysis import calibrate as calibrate
from .analysis import compare as compare
from .analysis import gate as gate
from .annotation import agreement as agreement
from .core.errors import InputError as InputError
from .core.errors import RagstoneError as RagstoneError
from .data import Context as Context
from .data import Example as Example
from .data import read as read
from .data import write as write
from .metrics import metric as metric
from .report.reason_words import explain as explain
from .run import Instructions as Instructions
from .run import Limits as Limits
from .run import Run as Run
from .run.batches.batch_follower import batches as batches
from .run.evaluate import aevaluate as aevaluate
from .run.evaluate import evaluate as evaluate
from .run.evaluate_one import evaluate_one as evaluate_one
from .run.forecast import forecast as forecast
from .run.rescore import rescore as rescore
from .web.entry_points import write_report as write_report

__all__: list[str]
__version__: str
open = Run.open
