from pathlib import Path

from .example import Context as Context
from .example import Example as Example
from .example import Turn as Turn
from .examples import Examples as Examples
from .file_formats.catalogue import Format as Format
from .file_formats.catalogue import formats as formats
from .read_examples import read as read
from .read_examples import read_trec as read_trec
from .read_facts import LabelViolation as LabelViolation
from .read_facts import Rejected as Rejected
from .record_labels import Violation as Violation
from .record_labels import answer_labels as answer_labels
from .record_labels import context_labels as context_labels
from .record_labels import majority as majority
from .record_labels import violations as violations
from .records import question_hash as question_hash
from .write_examples import as_record as as_record
from .write_examples import fingerprint_files as fingerprint_files
from .write_examples import from_frame as from_frame
from .write_examples import to_frame as to_frame
from .write_examples import write as write

def cornwall() -> Path: ...
