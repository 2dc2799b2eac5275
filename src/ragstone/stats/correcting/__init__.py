"""Correcting: a judge's mean, put right by labels of some rows. Imported file by file.

by_design            which of these a rate is corrected by
poststratified       rates: what people said, verdict by verdict
ppi                  means: prediction-powered inference (PPI++)
rogan_gladen         rates: by sensitivity and specificity
labels_only          what the labels say without the judge
verdict_strata       strata of a graded judge
stratified_wilson    Wilson's interval for a stratified rate
corrected            the result that all of them give
labelled_rows        labels checked
mean_with_error      a mean that can give its interval at any level
"""
