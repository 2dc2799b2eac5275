"""Folder: what a run keeps on disk, how it is written, checked and read.

folder         the folder of a run, for writing and reading, and its lock
remote_folder  the same at a URL
run_tally      counts over the shards of a run, and its run.json
run_list       the runs in a directory, and the progress of those that go on
run_files      reads and verifies the files of a finished run
shards         the tables in pieces, and the ledger of those that are done
schemas        the schemas of run.json, estimates.json and the ledger; columns of each table
checksums      the size and checksum of every file
"""
