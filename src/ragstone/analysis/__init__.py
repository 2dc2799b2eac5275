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

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
