from .judge import LEDGER as LEDGER
from .judge import Block as Block
from .judge import Filled as Filled
from .judge import Judge as Judge
from .judge import Proposition as Proposition
from .judge import RowBuilder as RowBuilder
from .judge import fingerprint as fingerprint
from .markers import MARKERS as MARKERS
