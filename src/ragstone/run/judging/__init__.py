"""Judging: the data in shards, the judges and their models, the tables of judged blocks.

evaluation    an unfinished run, from its first shard to its manifest
prefetch      judged blocks in order, with models asked ahead
scoring       the tables of judged blocks, and of the shard they make
sharding      the data in shards and blocks, and those of a finished run
judge_blocks  asks the judges in turn about a block
run_models    opens the encoder, cross-encoder and chat judges that a run needs
chat_judge    an LLM judge that asks its questions in stages
"""
