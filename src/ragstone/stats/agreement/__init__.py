"""Agreement of annotators. Imported file by file.

coefficients    percent agreement, and every coefficient of a table at once
cohen           κ of two, also a judge and people; of several by pairs; weighted by distance
fleiss          κ of several annotators
krippendorff    α for names, ranks and amounts, with gaps
gwet            AC1, which holds where one label is rare
ratings         annotators × items, read and checked
item_bootstrap  items or clusters of them redrawn
kappa_variance  what each item adds to the κ of two
"""
