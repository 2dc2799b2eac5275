"""Overrules: what people corrected in a finished run, kept beside it and laid over it.

overrule      one correction, and what came of it
store         RUN/overrules.sqlite, which only grows
units         what of an example can be overruled, and how people name it
check         what a person says, against what the kind declares
replay        the rows of one example after its overrules
lay           the same for tables of many examples, and what a rule derives from them
read_rows     a few examples of a run, and who shares a judgement
asking_again  the verdicts on a claim that a person reworded
estimating    the estimates of metrics whose scores changed
judged_run    a run as its judges left it, and what every overrule needs of it again
overlay       a run as people's word leaves it: judgements, scores, estimates
snapshot      the judgements and overrules of a run at one moment
overruling    overruling, and taking it back, which is what ``Run`` calls
"""
