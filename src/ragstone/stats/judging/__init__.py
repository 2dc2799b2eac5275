"""Judging: a judge against people on the same rows. Imported file by file.

Agreement beyond chance is ``kappa_with_interval`` in ``agreement.cohen``.

confusion          who said what; sensitivity, specificity, precision
auroc_interval     how well scores rank, with an interval
ranks              Spearman, Kendall
calibration_error  is it right as often as it says
threshold          from which score on a verdict should be yes, cross-validated
bias               for which rows it differs more
cells              a bootstrap over the cells of a table
"""
