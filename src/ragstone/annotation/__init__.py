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

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
