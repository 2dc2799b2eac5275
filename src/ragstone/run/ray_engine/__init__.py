"""Ray engine: a run whose shards are judged by the workers of a Ray cluster.

    engine        hands shards to workers, stores results in the order of the data, and isolates
                  examples that end a worker
    pool          the workers: started, lost and started again
    shard_worker  one worker: the task it gets, and what it does with a shard
    model_relay   workers' questions to models, which the process of the run asks for all of them
    connection    the cluster, and the user's files that its workers need

The process of the run cuts the data, asks models, and writes all files, so no worker needs a key,
a shared disk, or the run folder; whatever dies, what is written is whole, and written once.
"""
