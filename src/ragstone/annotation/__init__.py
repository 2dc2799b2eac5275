"""Human labels: what people said, who said it, how far they agree.

read_label_table   label files, or data that carry labels, as one table
labels_of          the labels that examples carry
LabelTable         one row per annotator, unit and column; the annotators' combined labels
write_labels       a table of labels as a file that reads back
write_adjudicated  the annotators' combined labels, as a file
agreement          how far the annotators of files agree, as one result with a page
agreement_of       how far they agree, column by column
labels_so_far      agreement and means while labels come, to be looked at again and again
clusters_of        the questions behind the examples of files
"""

from .annotator_agreement import (
    ColumnAgreement,
    LabelAgreement,
    agreement,
    agreement_of,
    clusters_of,
)
from .label_table import LabelTable
from .read_labels import labels_of, read_label_table
from .running_agreement import labels_so_far
from .write_labels import write_adjudicated, write_labels

__all__ = [
    "ColumnAgreement",
    "LabelAgreement",
    "LabelTable",
    "agreement",
    "agreement_of",
    "clusters_of",
    "labels_of",
    "labels_so_far",
    "read_label_table",
    "write_adjudicated",
    "write_labels",
]
