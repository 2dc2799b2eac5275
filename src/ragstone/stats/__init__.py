"""Statistics: functions of arrays that return frozen results, and know no metric.

mean_interval       a mean with the interval that suits it; the one to call first
wilson              a rate of independent rows
clopper_pearson     the same, never too narrow
cluster_wilson      a rate of rows that share clusters
cluster_bootstrap   a function of several means, by the cluster bootstrap
ratio_of_sums       one sum over another, by the delta method
worst_best          bounds on a mean with missing scores
auroc               how well a score ranks positives above negatives
one_sided_p         a one-sided p-value from intervals
t_quantile          Student's t
ends_of             low and high of an interval as plain data

Further in, imported file by file:

agreement/      percent, κ, α and AC1 of annotators, with intervals over items
comparison/     paired differences, permutation and exact tests, families of p-values, Bradley-Terry
judge_quality/  a judge against people: confusion, AUROC, ranks, calibration, threshold, bias
correction/     a judge's mean corrected by labels: post-stratification, PPI++, Rogan-Gladen
planning/       sample sizes, power, labels needed, random sampling
monitoring/     a stream of scores looked at after each one: when its mean fell, how soon it shows
risk_control    thresholds with a guarantee, risk and coverage, two samples of scores
sessions        worst turn, mean of turns and share resolved of conversations

Shared by several of them: distributions, rate_bounds, cluster_means, cluster_moments, bootstrap,
weights_and_groups.

Arguments that mean the same everywhere have no line in a docstring:

level             share of intervals that should hold the true value, in (0, 1)
seed, resamples   the same seed gives the same result on every machine
weights           shape (n,), inverse sampling probabilities, up to a common factor
clusters          shape (n,), rows with the same value are not independent; None: all are
low, high         the least and the greatest possible score, None for no bound
rate              whether every score is 0 or 1
sums, counts      shape (C,), of each cluster the sum of its scores and its rows, at least 1
squares           shape (C,), of each cluster the sum of its squared scores
probabilities     shape (n,), with which answers were drawn to be judged, in (0, 1]; None: 1
ratings           annotators × items; None and NaN mean not rated
labelled          shape (n,), indices, or shape (N,), a mask, of the labelled rows
labels            shape (n,), of the labelled rows in their order; 0 or 1 for a rate
scores, positive  shape (n,), a judge's, higher for likelier positives; true or 1 for a positive
differences       shape (n,), judge minus people; for rates low is -1 and high is 1
hits, successes   of n independent rows, in [0, n]
bound             the promised share, in (0, 1), with a confidence in (.5, 1)
power             wanted probability that a test decides, in (0, 1); its level is 1 minus its
                  significance level
half_width        wanted, above 0, and below .5 for a rate

A function raises InputError for what a user may give it: levels, ranges, sizes, scores and labels.
It takes arrays of the shapes described without a check.
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
