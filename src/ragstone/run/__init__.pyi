from .calls.journal import Counts as Counts
from .calls.journal_reader import Entry as Entry
from .folder.run_list import Progress as Progress
from .folder.schemas import Estimate as Estimate
from .judging.judge_blocks import Live as Live
from .run import Run as Run
from .settings import Instructions as Instructions
from .settings import Limits as Limits
