"""Planning: how much to run or label. Imported file by file.

sample_size    rows for a rate or a mean of a given precision
power          pairs for a difference, and the difference that pairs can show
equivalence    the margin within which pairs show that two are alike
labels_needed  labels beside a judge, on average or with assurance
rate_widths    how wide a corrected rate's interval comes out
needed_n       rows that would decide an open test
sampling       draws whose chances are known
"""
