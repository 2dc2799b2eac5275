"""Judging: a judge compared with people on the same rows. Imported file by file.

Chance-corrected agreement is ``kappa_with_interval`` in ``agreement.cohen``.

confusion          confusion matrix; sensitivity, specificity, precision
auroc_interval     AUROC with an interval
ranks              rank correlations: Spearman, Kendall
calibration_error  expected calibration error
threshold          the best threshold on a score, cross-validated
bias               mean difference from people, by group and along a covariate
cells              bootstrap over the cells of a contingency table
"""
