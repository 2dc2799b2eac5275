"""Correction: a judge's mean, corrected by people's labels of some rows. Imported file by file.

corrected             the result type of all methods, the checks of labels, strata by verdict
poststratified        rates: post-stratification by verdict, with Wilson's interval
ppi_and_rogan_gladen  means: prediction-powered inference (PPI++); rates: by sensitivity and
                      specificity; which of them a rate takes is chosen before labels are seen
labels_only           estimates from the labels alone
anytime               means that hold however often they are looked at
"""
