"""Calls: asking models so that a run survives their failures. Imported file by file.

asking       the asker: its event loop, shared questions, asking for missing items again
model_client one model: attempts at each question until it is answered or given up
attempting   one attempt, and which results are not worth a retry
admission    when a call may be sent: pace and budget
health       the state of a server, as its replies show it
outcomes     merging replies; an in-memory cache of outcomes
pacing       concurrency by AIMD; requests and tokens per minute
budget       limits on calls and US dollars
prices       prices of tokens
counts       counts of questions and calls for progress reports
journal      every attempt, written before it counts; entries: reading the journal
replies      a cache of replies across runs
batched      what the calls of a run ask of its batches
commits      many entries in one transaction
"""
