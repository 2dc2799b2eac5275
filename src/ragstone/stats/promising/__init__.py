"""Promising: thresholds of a score that carry a guarantee from few labels. Imported file by file.

exact_bound     how many hits of n a promise on a rate allows, and how many rows it needs
threshold       the lowest threshold that a promise allows, clustered
highest         one row a cluster: the one with the highest score
risk_coverage   the share of wrong answers among those given, by the share given
answered        from which score on the share of wrong answers keeps a promise
two_samples     whether two samples of scores come from one distribution
"""
