"""Calls: questions put to models so that a run survives. Imported file by file, where it is needed.

asking       the asker: a loop of its own, what is shared, what is asked again alone
model_client one model: each question's attempts, until it is answered or given up
attempting   one attempt, and what of it is of no use to repeat
admission    when a call may go: pace and budget
health       what replies tell of a server
outcomes     replies put together; those that are remembered
pacing       calls in flight by AIMD, requests and tokens a minute
budget       calls and US dollars
prices       what tokens cost
counts       how it stands
journal      every attempt, before it counts; entries: what it holds, for readers
replies      kept across runs
commits      many entries in one transaction
"""
