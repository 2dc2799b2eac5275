"""Cluster: a run whose shards are judged by the workers of a Ray cluster.

    connection   the cluster: found, or told in one line why not
    engine       hands shards to workers and keeps what they make, in the order of the data
    pool         the workers: begun, lost, begun again
    worker       one of them; maker: what it does with a shard; task: what it gets and gives
    shared_file  the data, which nodes that have them read themselves
    own_files    the user's own metrics and kinds, which go along; stand_in: models, which do not
    relay        their questions to models, which the process of the run asks for all of them
    poison       examples that end a worker, found by halves

The process of the run cuts the data, asks models, and writes all files, so no worker needs a key,
a shared disk, or the run folder; whatever dies, what is written is whole, and written once.
"""
