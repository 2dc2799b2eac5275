"""Judge quality: a judge compared with people on the same rows. Imported file by file.

Chance-corrected agreement is ``kappa_with_interval`` in ``agreement.coefficients``.

confusion             confusion matrix, its bootstrap; the best threshold, cross-validated
rank_measures         AUROC with an interval; rank correlations: Spearman, Kendall
bias_and_calibration  mean difference from people, by group; expected calibration error
"""
