"""Statistics: arrays in, frozen results out. This room knows no metric.

mean_interval       a mean with the interval that suits it; the one to call first
wilson              a rate of independent rows
clopper_pearson     the same, never too narrow
cluster_wilson      a rate of rows that share clusters
cluster_t_mean      a mean of rows that share clusters
bounded_wilson      a mean of scores in a range
bootstrap_mean      a mean, by the multinomial bootstrap
cluster_bootstrap   a function of several means, by the cluster bootstrap
ratio_of_sums       one sum over another, by the delta method
ratio_bootstrap     one sum over another, by the cluster bootstrap
worst_best          bounds on a mean with missing scores
percent_agreement   annotators, raw agreement
cohen_kappa         two annotators, chance-corrected
krippendorff_alpha  any number of annotators, chance-corrected
auroc               how well a score ranks positives above negatives
one_sided_p         a one-sided p-value from intervals
t_quantile          Student's t
ends_of             low and high of an interval as plain data

Further in, imported file by file:

agreement/      κ, α and AC1 with intervals over items
comparison/     paired differences, permutation and exact tests, families of p-values, Bradley-Terry
judge_quality/  a judge against people: confusion, AUROC, ranks, calibration, threshold, bias
correction/     a judge's mean corrected by labels: post-stratification, PPI++, Rogan-Gladen
planning/       sample sizes, power, labels needed, random sampling
monitoring/     a stream of scores looked at after each one: when its mean fell, how soon it shows
risk_control    thresholds with a guarantee, risk and coverage, two samples of scores
sessions        worst turn, mean of turns and share resolved of conversations

Shared by several of them: distributions, rate_bounds, cluster_means, cluster_moments, bootstrap,
weights_and_groups.
"""

from .agreement.alpha_and_ac1 import krippendorff_alpha
from .agreement.coefficients import cohen_kappa, percent_agreement
from .agreement.ratings import AgreementCoefficient
from .bootstrap import (
    RatioEstimate,
    bootstrap_mean,
    cluster_bootstrap,
    ratio_bootstrap,
    ratio_of_sums,
)
from .cluster_means import (
    MeanEstimate,
    bounded_wilson,
    cluster_t_mean,
    cluster_wilson,
    mean_interval,
)
from .distributions import Interval, clopper_pearson, ends_of, one_sided_p, t_quantile, wilson
from .judge_quality.rank_measures import auroc
from .rate_bounds import worst_best

__all__ = [
    "AgreementCoefficient",
    "Interval",
    "MeanEstimate",
    "RatioEstimate",
    "auroc",
    "bootstrap_mean",
    "bounded_wilson",
    "clopper_pearson",
    "cluster_bootstrap",
    "cluster_t_mean",
    "cluster_wilson",
    "cohen_kappa",
    "ends_of",
    "krippendorff_alpha",
    "mean_interval",
    "one_sided_p",
    "percent_agreement",
    "ratio_bootstrap",
    "ratio_of_sums",
    "t_quantile",
    "wilson",
    "worst_best",
]
