"""Calls: asking models so that a run survives their failures.

asker           sends a run's questions, shares equal ones, asks for missing items again
model_client    one model: attempts at each question until it is answered or given up
attempt         one attempt, which results are worth a retry, and the pace of calls
budget          limits on calls and US dollars; prices of tokens
journal         every attempt, written before it counts; counts of questions and calls
journal_reader  reads the journal: questions, replies and totals
reply_cache     a cache of replies across runs
"""
