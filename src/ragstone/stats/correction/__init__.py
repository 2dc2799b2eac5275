"""Correcting: a judge's mean, corrected by people's labels of some rows. Imported file by file.

by_design            chooses the correction of a rate before labels are seen
poststratified       rates: post-stratification by verdict
ppi                  means: prediction-powered inference (PPI++)
rogan_gladen         rates: by sensitivity and specificity
labels_only          estimates from the labels alone
anytime              a mean that holds however often it is looked at, of draws with equal chances
mean_sequence        the same for many labels, weighted and in clusters
verdict_strata       strata of a graded judge
stratified_wilson    Wilson's interval for a stratified rate
corrected            the result type of all methods
labelled_rows        checks labels
mean_with_error      a mean that can give its interval at any level
"""
