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

from .agree import LabelAgreement, agreement
from .agreement import ColumnAgreement, agreement_of
from .clusters import clusters_of
from .read import labels_of, read_label_table
from .so_far import labels_so_far
from .table import LabelTable
from .write import write_adjudicated, write_labels

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
